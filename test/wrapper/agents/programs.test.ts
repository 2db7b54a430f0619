import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  comparedToTested,
  findClaude,
  findCodex,
  findOpencode,
  newerThanTested,
  newestTested,
  screenIfAny,
  startable
} from '../../../lib/wrapper/agents/programs.ts'
import { lookForAgents } from '../../../lib/wrapper/daemon/computer/agents.ts'

t.test('versions are compared with the tested one by their first two numbers', async t => {
  for (const [version, is] of [
    ['0.169.7', 'tested'],
    ['0.170.0-beta.1', 'newer'],
    ['1.0', 'newer'],
    ['0.42.0', 'older'],
    ['next', undefined],
    [undefined, undefined]
  ] as const) {
    t.equal(comparedToTested('codex', version), is, String(version))
    t.equal(newerThanTested('codex', 'Codex', version) !== undefined, is === 'newer', String(version))
  }
  t.equal(comparedToTested('goose', '1.0.0'), undefined)
  t.equal(comparedToTested('codex', '1'), undefined, 'half a version says nothing')
  t.equal(comparedToTested('claude', '1.999.0'), 'older')
  t.equal(
    newerThanTested('codex', 'Codex', '1.0'),
    `Codex 1.0 is newer than tested (${newestTested['codex']}). Its new features may be missing on your phone.`
  )
})

t.test('Claude Code is found in PATH, and where its installers put it', { skip: process.platform === 'win32' && 'scripts' }, t => {
  const home = t.testdir({ bin: {} })
  const [PATH] = [join(home, 'bin')]
  const before = process.env['HOME']
  t.teardown(() => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  })
  process.env['HOME'] = home
  t.equal(findClaude({ PATH }), undefined)
  for (const folder of [join(home, '.claude', 'local'), join(home, '.local', 'bin'), PATH]) {
    mkdirSync(folder, { recursive: true })
    const program = join(folder, 'claude')
    writeFileSync(program, '')
    t.not(findClaude({ PATH }), program, 'one that cannot be run')
    chmodSync(program, 0o755)
    t.equal(findClaude({ PATH }), program, 'before those found so far')
  }
  t.end()
})

t.test('Codex and opencode are found in PATH', { skip: process.platform === 'win32' && 'scripts' }, t => {
  const PATH = t.testdir({ codex: '', opencode: '' })
  for (const name of ['codex', 'opencode']) chmodSync(join(PATH, name), 0o755)
  t.equal(findCodex({ PATH }), join(PATH, 'codex'))
  t.equal(findOpencode({ PATH }), join(PATH, 'opencode'))
  t.throws(() => findOpencode({ PATH: '' }), {
    name: 'CannotStart',
    message:
      'The command opencode was not found. Set OPENCODE_BIN_PATH to its path, or install it with:\n  npm install --global opencode-ai'
  })
  t.end()
})

t.test('an agent has its screen where there are terminals for it, and elsewhere the person is told', async t => {
  const screen = {} as never
  const told: string[] = []
  const shown = (given: typeof screen | undefined, hasPty?: boolean) =>
    screenIfAny(given, { whose: 'its screen', hasPty, tell: line => told.push(line) })
  t.equal(await shown(screen, true), screen)
  t.equal(await shown(undefined, false), undefined)
  t.strictSame(told, [])
  t.equal(await shown(screen, false), undefined)
  t.strictSame(told, ['Afield cannot show its screen on this kind of computer yet, so use your phone.'])
})

t.test(
  'the daemon reports for each agent whether its version was tested',
  { skip: process.platform === 'win32' && 'the fake is a script' },
  async t => {
    const program = join(t.testdir(), 'codex')
    writeFileSync(program, '#!/bin/sh\necho codex-cli 0.181.0\n', { mode: 0o755 })
    const { agents } = await lookForAgents({ PATH: '', CODEX_BIN: program })
    t.match(
      agents.find(({ agent }) => agent === 'codex'),
      { version: '0.181.0', tested: 'newer' }
    )
    t.equal(agents.find(({ agent }) => agent === 'demo')?.tested, undefined)
  }
)

t.test('a program named by a variable is used, and if it is none, the variable is named', async t => {
  const file = join(t.testdir({ text: '' }), 'text')
  const finders: [find: (env: Record<string, string>) => string | undefined, variables: [string, ...string[]]][] = [
    [findClaude, ['CLAUDE_CODE_EXECUTABLE', 'CLAUDE_BIN']],
    [findCodex, ['CODEX_BIN']],
    [findOpencode, ['OPENCODE_BIN_PATH', 'OPENCODE_BIN']]
  ]
  for (const [find, variables] of finders) {
    const [first] = variables
    for (const variable of variables) t.equal(find({ PATH: '', [variable]: process.execPath }), process.execPath, variable)
    for (const named of [file, join(file, 'gone')]) {
      const says = `${first} is set to ${named}, which is not a program.`
      t.throws(() => find({ PATH: '', [first]: named }), { name: 'CannotStart', message: says }, first)
    }
  }
  t.equal(findCodex({ PATH: '', CODEX_BIN: '' }), undefined)
})

const script = 'C:\\Users\\Ann B\\AppData\\Roaming\\npm\\gemini.cmd'

t.test('programs installed by npm on Windows are started through its shell, with escaped arguments', async t => {
  t.strictSame(startable(script, ['--acp', 'C:\\code\\a.json'], 'win32'), {
    command: `"${script}"`,
    args: ['--acp', 'C:\\code\\a.json'],
    shell: true
  })
  for (const odd of ['a&calc', 'two words', '"', '%PATH%', '^', '', 'a|b', '$(x)', 'a\nb'])
    t.throws(() => startable(script, ['--acp', odd], 'win32'), /gemini\.cmd cannot be started on Windows with/, odd)
})

t.test('other programs start without a shell, and all programs do elsewhere', async t => {
  t.strictSame(startable('C:\\claude.exe', ['a&b'], 'win32'), { command: 'C:\\claude.exe', args: ['a&b'], shell: false })
  t.strictSame(startable('/bin/odd.cmd', ['a&b'], 'linux'), { command: '/bin/odd.cmd', args: ['a&b'], shell: false })
})
