import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { claudeKind } from '../../../../lib/wrapper/agents/claude/claude.ts'
import { fakeClaude, installFakeAdapter } from '../../kit/claude.ts'
import { listenTo } from '../contract.ts'

// Claude Code ends, and the adapter through which it is driven lives on.
const home = mkdtempSync(join(tmpdir(), 'afield-test-'))
t.teardown(() => rmSync(home, { recursive: true, force: true }))
installFakeAdapter(home)
const kind = claudeKind({ home, env: { CLAUDE_CODE_EXECUTABLE: fakeClaude }, mayFetch: async () => false, tell() {} })

async function begin(t: Test, env: Record<string, string> = {}) {
  const directory = t.testdir()
  const agent = await kind.start({ directory, env: { ...env, HOME: directory, CLAUDE_CONFIG_DIR: join(directory, '.claude') } })
  t.teardown(() => agent.stop())
  const talk = listenTo(agent)
  const { conversation } = agent
  await agent.setMode('acceptEdits')
  await agent.setModel?.('deep')
  return { agent, talk, conversation }
}

const textsOf = ({ heard }: ReturnType<typeof listenTo>) =>
  heard.flatMap(event => (event.type === 'text' ? [event.isCut ? `${event.text} [cut]` : event.text] : []))

t.test('one that ended between two turns is restarted for the next message, with the chosen mode and model', async t => {
  const { agent, talk, conversation } = await begin(t)
  await agent.prompt('end after\nslow 1 first')
  t.match(await talk.until('turn-ended'), { reason: 'done' })
  const times = () => talk.heard.filter(({ type }) => type === 'notice').length
  const before = times()
  await agent.prompt('slow 1 second')
  t.match(await talk.until('turn-ended'), { reason: 'done' })
  t.strictSame(textsOf(talk), ['you said: end after\nslow 1 first', 'second'], 'given once')
  t.equal(agent.conversation, conversation)
  t.equal(times(), before + 1)
  t.match(
    talk.heard.findLast(({ type }) => type === 'notice'),
    { text: 'Claude Code exited unexpectedly and was restarted.' }
  )
  t.match(
    talk.heard.findLast(({ type }) => type === 'modes'),
    { modes: { current: 'acceptEdits' } }
  )
  t.match(
    talk.heard.findLast(({ type }) => type === 'options'),
    { models: { current: 'deep' } }
  )
  await agent.prompt('end after\nslow 1 third')
  await talk.until('turn-ended')
  await agent.prompt('slow 1 fourth')
  t.match(await talk.until('turn-ended'), { reason: 'done' }, 'however often it ends')
  t.equal(textsOf(talk).at(-1), 'fourth')
})

t.test('one that ended before the first word of a turn is restarted and given the message', async t => {
  const { agent, talk } = await begin(t)
  await agent.prompt('slow 1 first')
  await talk.until('turn-ended')
  await agent.prompt('end before it begins')
  t.match(await talk.until('turn-ended'), { reason: 'done' })
  t.strictSame(textsOf(talk), ['first', 'you said: end before it begins'])
})

t.test('one that ended mid-turn does not get the message again, and its half sentence is marked', async t => {
  const { agent, talk } = await begin(t)
  await agent.prompt('end in it')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: /^Claude Code exited unexpectedly during this turn\./, isLost: true })
  t.strictSame(textsOf(talk), ['half a sent [cut]'])
  await agent.prompt('slow 1 go on')
  t.match(await talk.until('turn-ended'), { reason: 'done' })
  t.strictSame(textsOf(talk), ['half a sent [cut]', 'go on'])
})

t.test('one that ended before recording anything continues in a new conversation, and says so', async t => {
  const { agent, talk, conversation } = await begin(t)
  await agent.prompt('end in it unwritten')
  t.match(await talk.until('turn-ended'), { reason: 'failed', isLost: true })
  const told = talk.heard.findLast(event => event.type === 'conversation')
  t.equal(told?.id, agent.conversation)
  t.not(agent.conversation, conversation)
  t.ok(talk.heard.some(event => event.type === 'notice' && /had not saved this conversation yet/.test(event.text)))
  await agent.prompt('slow 1 go on')
  t.match(await talk.until('turn-ended'), { reason: 'done' })
  t.strictSame(textsOf(talk), ['half a sent [cut]', 'go on'])
  t.match(
    talk.heard.findLast(({ type }) => type === 'modes'),
    { modes: { current: 'acceptEdits' } }
  )
})

t.test('a mode can be set even if it ended before', async t => {
  const { agent, talk } = await begin(t)
  await agent.prompt('end after')
  await talk.until('turn-ended')
  t.equal(await agent.setMode('plan'), true)
  t.match(
    talk.heard.findLast(({ type }) => type === 'modes'),
    { modes: { current: 'plan' } }
  )
})

t.test('one that cannot be restarted ends, with the cause', async t => {
  const { agent, talk } = await begin(t, { FAKE_REFUSES: 'again' })
  await agent.prompt('slow 1 first')
  await talk.until('turn-ended')
  await agent.prompt('end in it')
  t.match(await talk.until('turn-ended'), {
    reason: 'failed',
    error: /^The agent exited unexpectedly \(it could not start the conversation over: /
  })
  await t.rejects(talk.end, { name: 'AgentDied', how: /could not start the conversation over/ })
})
