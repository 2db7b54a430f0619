import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openSecret, readConfigFile } from '../../bin/config-file.ts'
import { CannotStart } from '../../lib/exit.ts'

const folder = t.testdir()
const fileWith = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

function refusal(path: string): string | undefined {
  try {
    readConfigFile(path)
    return undefined
  } catch (error) {
    if (error instanceof CannotStart && error.exitCode === 78) return error.message
    throw error
  }
}

t.test('a file has options by their flags, and its paths are relative to its folder', t => {
  const toml = fileWith('a.toml', 'port = 4100\ndata = "data"\nsocket = "/run/x"\nstore = "sqlite:x"\n')
  t.strictSame(readConfigFile(toml), {
    name: toml,
    values: new Map<string, unknown>([
      ['port', 4100],
      ['data', join(folder, 'data')],
      ['socket', '/run/x'],
      ['store', 'sqlite:x']
    ])
  })
  const json = fileWith('a.json', '{ "data": 1, "push-titles": true }')
  t.strictSame([...readConfigFile(json).values], [...Object.entries({ data: 1, 'push-titles': true })])
  t.end()
})

t.test('a file that cannot be used is refused in one sentence', t => {
  const cases: [name: string, text: string, sentence: string][] = [
    ['near.toml', 'prot = 1', 'names prot, which is no option. Did you mean port?'],
    ['far.toml', 'completely-different = 1', 'names completely-different, which is no option.'],
    ['bad.toml', 'port = 1\nsecret = x', 'is not valid TOML in line 2.'],
    ['bad.json', '{ "secret": x', 'is not valid JSON.'],
    ['list.json', '[]', 'must be an object with one member for each option.'],
    ['null.json', 'null', 'must be an object with one member for each option.'],
    ['word.json', '"port"', 'must be an object with one member for each option.']
  ]
  for (const [name, text, sentence] of cases) {
    const path = fileWith(name, text)
    t.equal(refusal(path), `${path} ${sentence}`)
  }
  const missing = join(folder, 'none.toml')
  t.equal(refusal(missing), `The configuration file ${missing} does not exist.`)
  mkdirSync(join(folder, 'folder.toml'))
  t.equal(refusal(join(folder, 'folder.toml')), `The configuration file ${join(folder, 'folder.toml')} cannot be read by this user.`)
  t.end()
})

t.test('a secret that others can read is named, and how to hide it', { skip: process.platform === 'win32' && 'no modes' }, t => {
  const warned = (text: string, mode: number) => {
    const path = fileWith('secret.toml', text)
    chmodSync(path, mode)
    return openSecret(readConfigFile(path))
  }
  const path = join(folder, 'secret.toml')
  const warning = (flag: string) => `Others on this computer can read ${path}, which contains ${flag}. Run: chmod o-r,g-r ${path}`
  const secret = 'port = 1\nmetrics-token = "a-token-nobody-sees"'
  t.equal(warned(secret, 0o604), warning('metrics-token'))
  t.equal(warned('store = "postgres://a:b@c/d"', 0o604), warning('store'), 'one in an address too')
  t.equal(warned(secret, 0o600), undefined)
  t.equal(warned(secret, 0o622), undefined, 'who writes it does not read it')
  t.equal(warned(secret, 0o640), process.getuid?.() === 0 ? undefined : warning('metrics-token'), 'for the group of a service')
  t.equal(warned('port = 1\nstore = "sqlite:x"', 0o644), undefined, 'without a secret')
  t.end()
})
