import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { agentsByName, findAgent, knownAgents, lookForAgents } from '../../../../lib/wrapper/daemon/computer/agents.ts'

const skip = process.platform === 'win32' && 'the fakes are scripts'

/** A computer without agents, its folder of programs, and the home directory of its owner. */
function computer(t: Test) {
  const own = t.testdir({ bin: {}, home: {} })
  const home = join(own, 'home')
  const { HOME } = process.env
  process.env['HOME'] = home
  t.teardown(() => Object.assign(process.env, { HOME }))
  const env = { PATH: join(own, 'bin'), HOME: home }
  const install = (name: string, lines: string, folder = join(own, 'bin')) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
    return join(folder, name)
  }
  const agent = async (name: string, more: Record<string, string> = {}) =>
    (await lookForAgents({ ...env, ...more })).agents.find(({ agent }) => agent === name)
  return { own, home, env, install, agent }
}

t.test('each agent is run by its own command of Afield, and any other is unknown', async t => {
  t.strictSame(Object.fromEntries(knownAgents.map(({ name }) => [name, findAgent(name).command.join(' ')])), {
    claude: 'claude',
    codex: 'codex',
    gemini: 'run -- gemini --acp',
    opencode: 'opencode',
    qwen: 'run -- qwen --acp',
    goose: 'run -- goose acp',
    demo: 'demo --folder .'
  })
  t.throws(() => findAgent('nonsense'), { message: 'This computer has no agent called nonsense.' })
})

t.test('on a computer without agents there is the demo, and how to install the others', { skip }, async t => {
  const { env } = computer(t)
  t.strictSame(await lookForAgents(env), {
    agents: [{ agent: 'demo', title: 'Demo agent' }],
    missingAgents: [
      { agent: 'claude', title: 'Claude Code', install: 'npm install -g @anthropic-ai/claude-code' },
      { agent: 'codex', title: 'Codex', install: 'npm install -g @openai/codex' },
      { agent: 'gemini', title: 'Gemini', install: 'npm install -g @google/gemini-cli' },
      { agent: 'opencode', title: 'opencode', install: 'npm install -g opencode-ai' },
      { agent: 'qwen', title: 'Qwen Code', install: 'npm install -g @qwen-code/qwen-code' },
      { agent: 'goose', title: 'Goose', install: 'https://block.github.io/goose/docs/getting-started/installation' }
    ]
  })
  const none = { claude: false, codex: false, gemini: false, opencode: false, qwen: false, goose: false, openclaw: false }
  t.strictSame(agentsByName(env), none)
})

t.test('an agent is found where its variable says, in the path, and where installers put it', { skip }, async t => {
  const { own, home, env, install, agent } = computer(t)
  const variables = { claude: 'CLAUDE_CODE_EXECUTABLE', codex: 'CODEX_BIN', opencode: 'OPENCODE_BIN_PATH' }
  for (const [name, variable] of Object.entries(variables)) {
    install(name, 'echo 0.3', join(home, '.local', 'bin'))
    t.equal((await agent(name))?.version, '0.3', name)
    install(name, 'echo 0.2')
    t.equal((await agent(name))?.version, '0.2', name)
    const named = install('other', 'echo 0.1', join(own, name))
    t.equal((await agent(name, { [variable]: named }))?.version, '0.1', name)
    t.equal((await agent(name, { [variable]: dirname(named) }))?.version, '0.2', `${name}: a folder is no program`)
  }
  t.match(agentsByName(env), { claude: true, codex: true, opencode: true, gemini: false })
})

t.test('of what an agent says about itself the version is shown, and nothing if it fails', { skip }, async t => {
  const { install, agent } = computer(t)
  const cases: [lines: string, version: string | undefined][] = [
    ['[ "$*" = --version ] && echo "goose 1.20.3-beta.1+a_b (2026)"', '1.20.3-beta.1+a_b'],
    ['echo 1', undefined],
    ['echo 1.2; exit 1', undefined],
    ['echo 1.2 >&2', undefined],
    // It waits for no one to type.
    ['read -r line; echo 1.4', '1.4'],
    ['echo "1.5$AFIELD_HOME"', '1.5'],
    ['echo "$SAYS"', '1.6']
  ]
  for (const [index, [lines, version]] of cases.entries()) {
    utimesSync(install('goose', lines), 1, index)
    const goose = await agent('goose', { AFIELD_HOME: '.6', SAYS: '1.6' })
    t.strictSame(goose, { agent: 'goose', title: 'Goose', ...(version !== undefined && { version }), signIn: 'goose configure' }, lines)
  }
})

t.test('an agent is asked for its version once, and again when it was replaced', { skip }, async t => {
  const { own, install, agent } = computer(t)
  const asked = join(own, 'asked')
  const program = install('goose', `echo x >> ${asked}; echo 1.0`)
  utimesSync(program, 1, 1)
  for (let times = 0; times < 2; times++) t.equal((await agent('goose'))?.version, '1.0')
  t.equal(readFileSync(asked, 'utf8'), 'x\n')
  install('goose', 'echo 1.1')
  t.equal((await agent('goose'))?.version, '1.1')
})

t.test('an agent is signed in with a key in the environment, or a file of its sign-in', { skip }, async t => {
  const { own, home, install, agent } = computer(t)
  for (const name of ['claude', 'codex', 'gemini', 'opencode', 'qwen', 'goose']) install(name, 'exit 1')
  t.intercept(process, 'platform', { value: 'linux' })
  const isSignedIn = async (name: string, more?: Record<string, string>) => (await agent(name, more))?.isSignedIn
  const other = join(own, 'other')
  const cases: [name: string, without: boolean | undefined, keys: string[], file: string, moved?: [variable: string, file: string]][] = [
    [
      'claude',
      false,
      ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
      join(home, '.claude', '.credentials.json'),
      ['CLAUDE_CONFIG_DIR', join(other, '.credentials.json')]
    ],
    ['codex', false, ['OPENAI_API_KEY', 'CODEX_API_KEY'], join(home, '.codex', 'auth.json'), ['CODEX_HOME', join(other, 'auth.json')]],
    ['gemini', false, ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], join(home, '.gemini', 'oauth_creds.json')],
    [
      'opencode',
      undefined,
      [],
      join(home, '.local', 'share', 'opencode', 'auth.json'),
      ['XDG_DATA_HOME', join(other, 'opencode', 'auth.json')]
    ],
    ['qwen', undefined, ['OPENAI_API_KEY'], join(home, '.qwen', 'oauth_creds.json')]
  ]
  for (const [name, without, keys, file, moved] of cases) {
    t.equal(await isSignedIn(name), without, name)
    for (const key of keys) {
      t.equal(await isSignedIn(name, { [key]: 'k' }), true, key)
      t.equal(await isSignedIn(name, { [key]: '' }), without, `no ${key}`)
    }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '')
    t.equal(await isSignedIn(name), true, file)
    if (!moved) continue
    t.equal(await isSignedIn(name, { [moved[0]]: other }), without, moved[0])
    mkdirSync(dirname(moved[1]), { recursive: true })
    writeFileSync(moved[1], '')
    t.equal(await isSignedIn(name, { [moved[0]]: other }), true, moved[1])
    if (name !== 'claude') t.equal(await isSignedIn(name, { [moved[0]]: '' }), true, `no ${moved[0]}`)
  }
  t.equal(await isSignedIn('goose'), undefined)
})

t.test('on macOS the sign-in of Claude Code is in the keychain, which is not read', { skip }, async t => {
  const { home, install, agent } = computer(t)
  install('claude', 'exit 1')
  t.notOk(existsSync(join(home, '.claude')))
  t.intercept(process, 'platform', { value: 'darwin' })
  t.equal((await agent('claude'))?.isSignedIn, undefined)
  t.equal((await agent('claude', { ANTHROPIC_API_KEY: 'k' }))?.isSignedIn, true)
})

t.test('an agent that does not say its version is listed without one after a while, whatever it ignores', { skip }, async t => {
  const { install, agent } = computer(t)
  install('goose', "trap '' TERM\nwhile :; do /bin/sleep 0.1; done")
  t.strictSame(await agent('goose'), { agent: 'goose', title: 'Goose', signIn: 'goose configure' })
})
