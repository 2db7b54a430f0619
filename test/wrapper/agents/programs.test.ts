import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { comparedToTested, findClaude, findCodex, findOpencode, newerThanTested, startable } from '../../../lib/wrapper/agents/programs.ts'
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
