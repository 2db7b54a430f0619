import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { serviceHint } from '../../bin/server-options.ts'
import { signUp } from '../kit/person.ts'
import { programFile } from '../kit/program.ts'
import { startServer } from '../kit/server.ts'
import { afield } from './kit/afield.ts'

const secret = 'a-token-nobody-sees'

/** `afield config …` with these files in a folder of its own, `FOLDER` in variables for that folder. */
function config(
  t: Test,
  files: Record<string, string>,
  { args = ['show'], env = {} }: { args?: string[]; env?: Record<string, string> } = {}
) {
  const folder = t.testdir(files)
  const at = (text: string) => text.replaceAll('FOLDER', folder)
  for (const name of Object.keys(files)) chmodSync(join(folder, name), 0o600)
  const { status, stdout, stderr } = spawnSync(process.execPath, [programFile(), 'config', ...args.map(at)], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      NO_COLOR: '1',
      COLUMNS: '200',
      ...Object.fromEntries(Object.entries(env).map(([name, text]) => [name, at(text)]))
    }
  })
  const shown = () =>
    Object.fromEntries(Object.entries(JSON.parse(stdout)).map(([flag, row]) => [flag, row as { value: unknown; from: string }]))
  return { folder, status, stdout, stderr, shown }
}

const toml = `
port = 4100
signup = "open"
limits = "off"
data = "data"
metrics-token = "${secret}"
`

t.test('a flag wins over a variable, a variable over the file, the file over the default', async t => {
  const { folder, shown, stderr } = config(
    t,
    { 'afield.toml': toml },
    {
      args: ['--json', '--config', 'FOLDER/afield.toml', '--signup', 'invite'],
      env: { AFIELD_PORT: '4200' }
    }
  )
  t.equal(stderr, '')
  t.match(shown(), {
    signup: { value: 'invite', from: '--signup' },
    port: { value: 4200, from: 'AFIELD_PORT' },
    limits: { value: 'off', from: `${folder}/afield.toml` },
    'log-level': { value: 'info', from: 'default' }
  })
})

t.test('paths in the file are relative to its folder, and secrets are hidden', async t => {
  const { folder, stdout } = config(t, { 'afield.toml': toml }, { env: { AFIELD_CONFIG: 'FOLDER/afield.toml' } })
  t.match(stdout, new RegExp(`^ +data +${folder}/data +${folder}/afield.toml$`, 'm'))
  t.match(stdout, /^ +metrics-token +\(hidden\) /m)
  t.notMatch(stdout, secret)
})

t.test('the password of a store is hidden, and may be in a file of its own', async t => {
  const url = 'postgres://ann:p@ss/word@db.example/afield'
  const { stdout } = config(t, {}, { env: { AFIELD_STORE: url } })
  t.match(stdout, 'postgres://(hidden)@db.example/afield')
  t.notMatch(stdout, 'ss/word')
  const fromFile = config(t, { 'store-url': url }, { args: ['--json'], env: { AFIELD_STORE_FILE: 'FOLDER/store-url' } })
  t.match(fromFile.shown()['store'], { value: 'postgres://(hidden)@db.example/afield', from: 'AFIELD_STORE_FILE' })
})

t.test('a file that ends in .json is read as JSON', async t => {
  const { shown } = config(
    t,
    { 'afield.json': '{ "port": 4300, "push-titles": true }' },
    { args: ['--json', '--config', 'FOLDER/afield.json'] }
  )
  t.match(shown(), { port: { value: 4300 }, 'push-titles': { value: true } })
})

t.test('a secret is read from the file that a variable names', async t => {
  const { shown, status } = config(t, { token: `${secret}\n` }, { args: ['--json'], env: { AFIELD_METRICS_TOKEN_FILE: 'FOLDER/token' } })
  t.equal(status, 0)
  t.match(shown()['metrics-token'], { value: '(hidden)', from: 'AFIELD_METRICS_TOKEN_FILE' })
})

t.test('of the address of a bus the password is hidden, and it can be in a file of its own', async t => {
  const files = { bus: 'redis://ada:pa@ss-word@host:6380/2\n' }
  const { shown, stdout } = config(t, files, { args: ['--json'], env: { AFIELD_BUS_FILE: 'FOLDER/bus' } })
  t.match(shown()['bus'], { value: 'redis://(hidden)@host:6380/2', from: 'AFIELD_BUS_FILE' })
  t.notMatch(stdout, 'ss-word')
  t.match(config(t, {}, { args: ['--json'] }).shown()['bus'], { value: 'local', from: 'default' })
})

const refused: [why: string, toml: string, sentence: RegExp, env?: Record<string, string>][] = [
  ['a name that is no option', 'prot = 4000', /^.*\/afield\.toml names prot, which is no option\. Did you mean port\?$/m],
  ['a value that does not fit', 'port = "many"', /^port in .*\/afield\.toml must be a whole number from 0 to 65535\.$/m],
  ['text that is no TOML', `port = 1\nmetrics-token = ${secret}`, /^.*\/afield\.toml is not valid TOML in line 2\.$/m],
  ['a combination that cannot work', 'host = "0.0.0.0"', /^Listening on 0\.0\.0\.0 needs HTTPS/m],
  [
    'a variable and its file',
    '',
    /^AFIELD_EXPO_TOKEN and AFIELD_EXPO_TOKEN_FILE cannot both be set\.$/m,
    { AFIELD_EXPO_TOKEN: 'x', AFIELD_EXPO_TOKEN_FILE: 'y' }
  ],
  [
    'a file of a secret that is missing',
    '',
    /^The file \/nowhere of AFIELD_EXPO_TOKEN_FILE cannot be read\.$/m,
    { AFIELD_EXPO_TOKEN_FILE: '/nowhere' }
  ]
]
for (const [why, toml, sentence, env = {}] of refused) {
  t.test(`${why} is rejected in one sentence, with exit code 78`, async t => {
    const { status, stderr, stdout } = config(t, { 'afield.toml': toml }, { args: ['check', '--config', 'FOLDER/afield.toml'], env })
    t.match(stderr, sentence)
    t.notMatch(stderr + stdout, secret)
    t.equal(status, 78)
  })
}

t.test('a file that is missing is rejected in one sentence', async t => {
  const { status, stderr } = config(t, {}, { args: ['check', '--config', '/nowhere/afield.toml'] })
  t.equal(stderr, 'The configuration file /nowhere/afield.toml does not exist.\n')
  t.equal(status, 78)
})

t.test('check says what is set, and warns of a secret that others can read', async t => {
  const { folder, stdout, stderr } = config(t, { 'afield.toml': toml }, { args: ['check', '--config', 'FOLDER/afield.toml'] })
  t.equal(stdout, `The options are valid. Set: 5, with those of ${folder}/afield.toml; the others have their defaults.\n`)
  t.equal(stderr, '')
  chmodSync(join(folder, 'afield.toml'), 0o644)
  const { stderr: warning } = spawnSync(process.execPath, [programFile(), 'config', 'check', '--config', join(folder, 'afield.toml')], {
    encoding: 'utf8'
  })
  t.match(warning, /^Others on this computer can read .*\/afield\.toml, which contains metrics-token\. Run: chmod o-r,g-r /m)
})

t.test('check works without a file', async t => {
  const { stdout, status } = config(t, {}, { args: ['check'], env: { AFIELD_PORT: '4200' } })
  t.equal(stdout, 'The options are valid. Set: 1; the others have their defaults.\n')
  t.equal(status, 0)
})

t.test('serve and the commands beside it use the file', async t => {
  const folder = t.testdir({ 'afield.toml': 'port = 0\ndata = "own"\nsignup = "open"\nlog-level = "silent"\n' })
  const file = join(folder, 'afield.toml')
  const start = (...args: string[]) => spawn(process.execPath, [programFile(), ...args, '--config', file])
  const server = start('serve')
  t.teardown(() => server.kill())
  await once(createInterface({ input: server.stdout }), 'line')
  t.ok(existsSync(join(folder, 'own/afield.db')))
  const users = start('users')
  const own = join(folder, 'own')
  t.equal(
    (await Promise.all([text(users.stdout), text(users.stderr)])).join(''),
    `Data directory: ${own} (from data in ${file})\nThere are no accounts yet in ${own}\n`
  )
})

t.test('commands that list nothing name the data directory, and those of another than the default say where its name is from', async t => {
  const { data } = await startServer(t)
  const said = async (args: string[], env: Record<string, string> = {}) => (await afield(args, env)).stderr
  t.equal(await said(['users', '--data', data]), `There are no accounts yet in ${data}\n`)
  t.match(await said(['invite', '--data', data]), `There are no invitations in ${data}. Create one with:`)
  t.equal(
    await said(['users'], { AFIELD_DATA: data }),
    `Data directory: ${data} (from AFIELD_DATA)\nThere are no accounts yet in ${data}\n`
  )
  const home = { HOME: data, XDG_DATA_HOME: '', AFIELD_DATA: '' }
  t.equal(
    await said(['users'], home),
    `There is no data directory ${join(data, '.local/share/afield')}; give the one of the server with --data.\n`
  )
  await signUp(t, { url: (await startServer(t, { data: join(data, 'other') })).url })
  t.match(await said(['users'], { AFIELD_DATA: join(data, 'other') }), /^Data directory: \S+other \(from AFIELD_DATA\)\n$/)
})

t.test('without data of their own, a person is told of the server that runs as a service', async t => {
  const here = t.testdir({ 'afield.toml': '' })
  const config = join(here, 'afield.toml')
  t.match(serviceHint(join(here, 'none'), config), `add as root: --config ${config}`)
  t.equal(serviceHint(here, config), undefined)
  t.equal(serviceHint(join(here, 'none'), join(here, 'other.toml')), undefined)
})
