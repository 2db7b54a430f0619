import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { claudeAdapter, fetchAdapter, findAdapter } from '../../../../lib/wrapper/agents/claude/adapter.ts'
import { claudeKind } from '../../../../lib/wrapper/agents/claude/claude.ts'

const how = { skip: process.platform === 'win32' && 'the fake is a script' }
const what = `${claudeAdapter.name}@${claudeAdapter.version}`
const package_ = join('node_modules', ...claudeAdapter.name.split('/'))
const installs = (manifest: string) => `mkdir -p ${package_} && echo '${manifest}' > ${join(package_, 'package.json')}`

t.test('the adapter is fetched by npm without its scripts, and found afterwards', how, async t => {
  for (const bin of ['"run.js"', '{ "acp": "run.js" }']) {
    const { home, env, npm } = computer(t, `${installs(`{ "bin": ${bin} }`)}; echo "$@" > asked`)
    t.equal(findAdapter(home), undefined)
    const file = await fetchAdapter({ npm, home, env })
    t.equal(file, join(home, 'agents', package_, 'run.js'))
    t.equal(findAdapter(home), file)
    const asked = readFileSync(join(home, 'agents', 'asked'), 'utf8').trim()
    t.equal(asked, `install --omit=optional --ignore-scripts --no-audit --no-fund --save-exact ${what}`)
    t.equal(readFileSync(join(home, 'agents', 'package.json'), 'utf8'), '{ "private": true }\n')
    writeFileSync(join(home, 'agents', 'package.json'), '{ "private": true, "own": 1 }')
    await fetchAdapter({ npm, home, env })
    t.match(readFileSync(join(home, 'agents', 'package.json'), 'utf8'), '"own": 1', 'an existing one is kept')
  }
})

t.test('an adapter that cannot be fetched says why', how, async t => {
  const cases: [npm: string | undefined, message: string | RegExp][] = [
    ['echo "no network" >&2; exit 1', `npm could not install ${what}:\nno network`],
    ['exit 0', /^npm installed .* but its program is missing from .*agents\.$/],
    [installs('{ "bin": {} }'), /its program is missing/],
    [undefined, /^npm could not be started: .*ENOENT/]
  ]
  for (const [script, message] of cases) {
    const { home, env, npm } = computer(t, script)
    await t.rejects(fetchAdapter({ npm, home, env }), { name: 'CannotStart', message })
  }
  const { home, env, npm } = computer(t, `head -c 3000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1`)
  const error = await fetchAdapter({ npm, home, env }).catch((error: Error) => error.message)
  t.equal(error, `npm could not install ${what}:\n${'x'.repeat(1_996)}end`, 'only its last words')
})

t.test('the adapter is fetched only with leave', how, async t => {
  const start = (leave: boolean, { home, env }: ReturnType<typeof computer>) => {
    const asked: string[] = []
    const told: string[] = []
    const mayFetch = async (question: string) => asked.push(question) > 0 && leave
    const kind = claudeKind({ home, env: { ...env, CLAUDE_CODE_EXECUTABLE: process.execPath }, mayFetch, tell: line => told.push(line) })
    return { started: kind.start({ directory: home, env }), asked, told }
  }
  const refused = computer(t, 'touch asked; exit 1')
  const no = start(false, refused)
  const agents = join(refused.home, 'agents')
  await t.rejects(no.started, {
    name: 'CannotStart',
    message: `Afield cannot run Claude Code without ${claudeAdapter.name}. Install it with --yes, or run:\n  npm install --omit=optional --ignore-scripts --prefix ${agents} ${what}`
  })
  t.strictSame(no.asked, [
    `Afield runs Claude Code through ${claudeAdapter.name} ${claudeAdapter.version} (78 MB), which is not installed yet.\nInstall it with npm into ${agents}?`
  ])
  t.strictSame(no.told, [])
  t.notOk(existsSync(agents))

  const yes = start(true, refused)
  await t.rejects(yes.started, { message: /^npm could not install/ })
  t.strictSame(yes.told, [`Installing ${claudeAdapter.name} ${claudeAdapter.version} …`])

  const without = start(true, computer(t, undefined))
  await t.rejects(without.started, {
    message: `Afield needs ${claudeAdapter.name} to run Claude Code, and npm to install it. Install Node.js with npm and try again.`
  })
  t.strictSame(without.told, [])
})

/** A computer whose npm does this; undefined if it has none. */
function computer(t: Test, script: string | undefined) {
  const folder = t.testdir()
  const home = join(folder, 'home')
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  mkdirSync(home)
  const npm = join(bin, 'npm')
  if (script !== undefined) writeFileSync(npm, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`, { mode: 0o755 })
  return { home, npm, env: { PATH: bin } }
}
