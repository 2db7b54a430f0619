import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { envelopeOf } from '../../lib/client/sealed/messages.ts'
import { lacksPublished } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { computerWithRealClaude } from './computer.ts'

// The real Claude Code on its own screen, with a model on loopback; see claude.test.ts for the two variables.
const how = { skip: lacksPublished('claude'), timeout: 90_000 }

async function claudeAtTerminal(t: Test) {
  const server = await startServer(t)
  const { phone, home, directory, sitDown } = await computerWithRealClaude(t, server)
  const terminal = sitDown()
  const session = await phone.session()
  await terminal.sees(/❯/)
  return { terminal, session, directory, home }
}

t.test("messages typed at the terminal are on the phone, and the phone's are typed there", how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  await session.until(({ state }) => state.controlledByUser === true)
  terminal.type('hello from the desk')
  await terminal.sees(/hello from the desk/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['you said: hello from the desk'])
  t.strictSame(said(session), ['hello from the desk'])

  await session.say('and from the phone')
  await session.until(session => turnsEnded(session) === 2)
  await terminal.sees(/you said: and from the phone/)
  t.strictSame(texts(session), ['you said: hello from the desk', 'you said: and from the phone'])
  t.strictSame(said(session), ['hello from the desk', 'and from the phone'], 'each once')
  t.equal(session.state.controlledByUser, true, 'the keyboard stayed at the desk')
})

t.test('a question is answered on the phone while its dialog is open in the terminal, and the other way round', how, async t => {
  const { terminal, session, directory } = await claudeAtTerminal(t)
  await session.say('write one.txt')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  await terminal.sees(/Do you want to create one.txt/)
  const [[id = '', request] = []] = Object.entries(session.state.requests ?? {})
  t.match(request, { tool: 'Write', kind: 'edit', content: [{ type: 'diff', newText: 'from the model\n' }] })
  await session.call('permission', { id, approved: true, choice: 'allow', shown: request?.shown ?? '' })
  await session.until(session => turnsEnded(session) === 1)
  t.equal(readFileSync(join(directory, 'one.txt'), 'utf8'), 'from the model\n')

  await session.say('write two.txt')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  await terminal.sees(/Do you want to create two.txt/)
  // Claude Code takes no key for a moment after its dialog has opened, so that nobody answers it by accident.
  await pause(1500)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(readFileSync(join(directory, 'two.txt'), 'utf8'), 'from the model\n')
  const answered = Object.values(session.state.completedRequests ?? {}).map(({ status, answeredBy }) => ({ status, answeredBy }))
  t.match(answered, [{ status: 'approved' }, { status: 'approved', answeredBy: 'the terminal' }])
  t.strictSame(texts(session), ['I will write one.txt.', 'all done', 'I will write two.txt.', 'all done'])
})

t.test("the person's reason for saying no on the phone reaches Claude, and it continues", how, async t => {
  const { session } = await claudeAtTerminal(t)
  await session.say('write one.txt')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: false, reason: 'ask Ann first' })
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().find(event => event.t === 'tool-call-end')?.content, [{ text: /ask Ann first/ }])
  t.strictSame(texts(session), ['I will write one.txt.', 'all done'])
})

t.test('the phone takes control, and any key takes it back; nothing is lost or sent twice', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type('first')
  await terminal.sees(/first/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 1)

  await session.call('switch', { to: 'remote' })
  await session.until(({ state }) => state.controlledByUser === false)
  await terminal.sees(/Any key takes it back/)
  await session.say('second')
  await session.until(session => turnsEnded(session) === 2)

  terminal.type(' ')
  await session.until(({ state }) => state.controlledByUser === true)
  await terminal.sees(/you said: second/)
  terminal.type('third')
  await terminal.sees(/third/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['you said: first', 'you said: second', 'you said: third'])
  t.strictSame(said(session), ['first', 'second', 'third'])

  terminal.kill('SIGTERM')
  t.equal(await terminal.ended, 0)
})

t.test('at its terminal Claude reports its context usage and its commands, as it does with the phone', how, async t => {
  const { session } = await claudeAtTerminal(t)
  await session.say('hello')
  await session.until(session => turnsEnded(session) === 1)
  await session.until(({ metadata }) => metadata.slashCommands?.includes('goal') === true)
  const here = session.metadata.slashCommands ?? []
  await session.call('switch', { to: 'remote' })
  await session.until(({ state }) => state.controlledByUser === false)
  await session.say('and here')
  await session.until(session => turnsEnded(session) === 2)
  const [atTerminal, withPhone] = contexts(session)
  t.match(atTerminal, { used: Number, size: Number })
  t.strictSame(atTerminal, withPhone)
  const ofAdapter = ['mcp', 'remote-control']
  const left = session.metadata.slashCommands?.filter(name => !here.includes(name) && !ofAdapter.includes(name))
  t.strictSame(left, [], 'every command of Claude Code')
})

t.test('a goal is shown on the phone, which edits and clears it, at the terminal and with the phone', how, async t => {
  const { session } = await claudeAtTerminal(t)
  const goal = () => session.state.agentGoalStatus
  const isNow = (text: string | undefined) => () => {
    const now = goal()
    return text === undefined ? now?.status === 'inactive' : now?.status === 'active' && now.text === text
  }
  await t.rejects(session.call('goal-action', { action: 'clear' }), /The agent has no goal now/)
  await session.say('/goal draw a cat')
  await session.until(isNow('draw a cat'))
  t.match(goal(), { source: 'claude', sourceSessionId: session.metadata.claudeSessionId, capabilities: { clear: true, edit: true } })
  await session.until(session => turnsEnded(session) === 1)
  t.equal(session.state.controlledByUser, true, 'the keyboard stayed at the desk')
  t.strictSame(await session.call('goal-action', { action: 'edit', objective: 'draw two cats' }), { ok: true })
  await session.until(isNow('draw two cats'))
  t.strictSame(await session.call('goal-action', { action: 'clear' }), { ok: true })
  await session.until(isNow(undefined))
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(said(session), ['/goal draw a cat', '/goal draw two cats'])

  await session.call('switch', { to: 'remote' })
  await session.until(({ state }) => state.controlledByUser === false)
  await session.say('/goal sing')
  await session.until(isNow('sing'))
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(await session.call('goal-action', { action: 'edit', objective: 'sing twice' }), { ok: true })
  await session.until(isNow('sing twice'))
  await session.until(session => turnsEnded(session) === 4)
  t.strictSame(await session.call('goal-action', { action: 'clear' }), { ok: true })
  await session.until(isNow(undefined))
})

t.test('a long message from the phone, which Claude Code marks as pasted, is sent once, at the terminal', how, async t => {
  const { session } = await claudeAtTerminal(t)
  const long = 'A long message. '.repeat(300).trim()
  await session.say(long)
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), [long])
  t.match(texts(session), [/you said: <pasted_content/], 'as this version marks it')
  t.equal(session.state.controlledByUser, true)
})

function said({ messages }: PhoneSession): string[] {
  return messages.flatMap(({ role, content }) => (role === 'user' ? content.text : []))
}

function contexts({ messages }: PhoneSession) {
  return messages.flatMap(message => {
    const usage = message.role === 'session' ? envelopeOf(message)?.usage : undefined
    return usage ? [{ used: usage.input_tokens, size: usage.context_window }] : []
  })
}
