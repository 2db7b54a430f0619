import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { comparedToTested, newerThanTested } from '../../../lib/wrapper/agents/tested-versions.ts'
import { lookForAgents } from '../../../lib/wrapper/daemon/agents-here.ts'

t.test('a version is newer or older than the tested one by its first two numbers', async t => {
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
  'the helper tells of each agent whether its version was tested',
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
