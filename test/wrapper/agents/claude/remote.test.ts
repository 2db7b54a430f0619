import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { claudeKind } from '../../../../lib/wrapper/agents/claude/claude.ts'
import { fakeClaude, installFakeAdapter } from '../../kit/claude.ts'
import { testAgent } from '../contract.ts'

// What the phone drives, without the screen: a fake adapter, whose conversations are those of the fake Claude Code.
const home = mkdtempSync(join(tmpdir(), 'afield-test-'))
t.teardown(() => rmSync(home, { recursive: true, force: true }))
installFakeAdapter(home)
const kind = claudeKind({ home, env: { CLAUDE_CODE_EXECUTABLE: fakeClaude }, mayFetch: async () => false, tell() {} })

testAgent(t, {
  start: how => kind.start({ ...how, env: { ...how.env, CLAUDE_CONFIG_DIR: join(how.directory, '.claude') } }),
  write: (file, content, end) => `write ${JSON.stringify({ file, content, end })}`,
  slow: (ms, words) => `slow ${ms} ${words}`,
  has: { choices: { model: 'deep', effort: 'high' }, form: false, link: false, image: false, steering: false }
})

t.test('a conversation that is not on this computer is reported, and no other is started', async t => {
  const directory = t.testdir()
  const start = (isUnsent: boolean) =>
    kind.start({ directory, env: { CLAUDE_CONFIG_DIR: join(directory, '.claude') }, resume: 'never-was', isUnsent })
  await t.rejects(start(true), { name: 'CannotStart', message: /no conversation never-was on this computer/ })
  const agent = await start(false)
  t.not(agent.conversation, 'never-was', 'a session of ours in which nothing was said goes on with a new one')
  await agent.stop()
})
