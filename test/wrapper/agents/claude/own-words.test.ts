import t from 'tap'
import { envelopeOf } from '../../../../lib/client/sealed/messages.ts'
import { claudeAtTerminal, read, said, written } from '../../kit/claude.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'
import type { PhoneSession } from '../../kit/phone.ts'

// What Claude Code at its terminal says of itself: its commands, how full its context is, its goal.
const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the fake is a script' }

t.test('the context usage arrives with the end of each turn at the terminal', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type('hello\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(contexts(session), [{ used: 1234, size: 200_000 }])
})

t.test('one that does not answer queries reports no context usage, and works', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t, { env: { FAKE_LACKS: 'answers' } })
  terminal.type('hello\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['you said: hello'])
  t.strictSame(contexts(session), [])
  t.equal(session.metadata.slashCommands, undefined)
})

t.test('its commands are on the phone, and a prompt command runs in the terminal', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session } = computer
  await session.until(({ metadata }) => metadata.slashCommands !== undefined)
  t.strictSame(session.metadata.slashCommands, ['mine', 'tidy', 'compact', 'goal'])
  const { mine = '', ...others } = session.metadata.slashDescriptions ?? {}
  t.match(mine, /^Does mine\. And more\. .*…$/, 'in one line that is not long')
  t.ok(mine.length <= 160)
  t.strictSame(others, {}, 'and nothing of what says nothing of itself')
  await session.say('/mine this')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('/tidy')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(session), ['you said: /mine this', 'you said: /tidy'])
  t.strictSame(said(session), ['/mine this', '/tidy'], 'each once')
  t.equal(session.state.controlledByUser, true, 'the keyboard stayed at the desk')

  terminal.type('/mine too\r')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(said(session), ['/mine this', '/tidy', '/mine too'], 'also what was run at the terminal')
})

t.test('a command that is not a prompt runs with the phone; at the terminal none is a turn', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type('/compact\r')
  await terminal.sees(/ran .compact/)
  terminal.type('hello\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), ['hello'], 'neither the command nor the summary was said by anybody')

  await session.say('/compact')
  await session.until(({ state }) => state.controlledByUser === false)
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(said(session), ['hello', '/compact'])
})

t.test('one that does not report which commands are prompts runs them with the phone', how, async t => {
  const { session } = await claudeAtTerminal(t, { env: { FAKE_LACKS: 'marks' } })
  await session.until(({ metadata }) => metadata.slashCommands !== undefined)
  t.strictSame(session.metadata.slashCommands, ['mine'])
  await session.say('/mine this')
  await session.until(session => turnsEnded(session) === 1)
  t.equal(session.state.controlledByUser, false)
  t.strictSame(texts(session), ['you said: /mine this'])
})

t.test('a goal of the terminal is edited and cleared on the phone, which gets the confirmation', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  const goal = () => session.state.agentGoalStatus
  await t.rejects(session.call('goal-action', { action: 'clear' }), /The agent has no goal now/)
  terminal.type('/goal all tests pass\r')
  await session.until(() => goal()?.status === 'active')
  const { claudeSessionId: sourceSessionId } = session.metadata
  t.match(goal(), { source: 'claude', text: 'all tests pass', sourceSessionId, capabilities: { clear: true, edit: true } })
  await session.until(session => turnsEnded(session) === 1)

  await t.rejects(session.call('goal-action', { action: 'stop' }), /not stopped/)
  await t.rejects(session.call('goal-action', { action: 'edit', objective: ' ' }), /Say what the goal should be/)
  t.strictSame(await session.call('goal-action', { action: 'edit', objective: 'all tests\npass twice' }), { ok: true })
  await session.until(() => goal()?.status === 'active' && /twice/.test(JSON.stringify(goal())))
  t.match(goal(), { text: 'all tests pass twice' })
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(said(session), ['/goal all tests pass', '/goal all tests pass twice'])

  t.strictSame(await session.call('goal-action', { action: 'clear' }), { ok: true })
  await session.until(() => goal()?.status === 'inactive')
  t.match(goal(), { reason: 'cleared' })
  t.equal(turnsEnded(session), 2, 'that is no turn')
  terminal.type('and on\r')
  await session.until(session => turnsEnded(session) === 3)
})

t.test('a goal is resumed, and is changed with the phone between its turns', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  const goal = () => session.state.agentGoalStatus
  terminal.type('/goal all tests pass\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.call('switch', { to: 'remote' })
  await session.until(({ state }) => state.controlledByUser === false)
  await session.say('slow 2000 one two three')
  await session.until(({ partials }) => partials.some(({ text }) => /one/.test(text)))
  await t.rejects(session.call('goal-action', { action: 'clear' }), /The agent is working/)
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(await session.call('goal-action', { action: 'edit', objective: 'no test fails' }), { ok: true })
  await session.until(() => /no test fails/.test(JSON.stringify(goal())))
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(await session.call('goal-action', { action: 'clear' }), { ok: true })
  await session.until(() => goal()?.status === 'inactive')
  t.strictSame(said(session), ['/goal all tests pass', 'slow 2000 one two three'], 'nobody said it')
})

t.test('messages typed at the terminal while Claude works are on the phone', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session } = computer
  terminal.type('many 40 word\r')
  await session.until(session => texts(session).length > 2)
  terminal.type('and this\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), ['many 40 word', 'and this'])
  t.strictSame(
    read(session).filter(line => line.startsWith('assistant')),
    written(computer).filter(line => line.startsWith('assistant'))
  )
})

function contexts({ messages }: Pick<PhoneSession, 'messages'>) {
  return messages.flatMap(message => {
    const usage = message.role === 'session' ? envelopeOf(message)?.usage : undefined
    return usage ? [{ used: usage.input_tokens, size: usage.context_window }] : []
  })
}
