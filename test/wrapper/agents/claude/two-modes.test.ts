import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { envelopeOf } from '../../../../lib/client/sealed/messages.ts'
import { claudeAtTerminal, read, said, written } from '../../kit/claude.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'
import type { PhoneSession } from '../../kit/phone.ts'

// A fake Claude Code on a real terminal; test/real has the same with the real one.
const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the fake is a script' }

t.test("messages typed at the terminal are on the phone, and the phone's are typed there", how, async t => {
  const { terminal, session, server } = await claudeAtTerminal(t)
  t.match(terminal.screen, `▎ This session is on your phone too: ${server.url}`)
  await session.until(({ state }) => state.controlledByUser === true)
  terminal.type('from the desk\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('half a thought')
  await terminal.sees(/❯ half a thought/)
  await session.say('from the phone')
  await session.until(session => turnsEnded(session) === 2)
  await terminal.sees(/❯ half a thought$/m)
  t.strictSame(read(session), [
    'user: from the desk',
    'assistant: you said: from the desk',
    'user: from the phone',
    'assistant: you said: from the phone'
  ])
  t.equal(session.state.controlledByUser, true, 'the keyboard stayed at the desk')
})

t.test('rows recorded late are sent before the end of their turn, and in order', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t, { env: { FAKE_LAG_MS: '1000' } })
  terminal.type('write late.txt\r')
  const id = await question(session)
  await session.call('permission', { id, approved: true })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(
    session.events().map(({ t }) => t),
    ['turn-start', 'text', 'tool-call-start', 'tool-call-end', 'text', 'turn-end']
  )
})

t.test('a question is answered on the phone while its dialog is open, and in the dialog while it is on the phone', how, async t => {
  const { terminal, session, directory } = await claudeAtTerminal(t)
  await session.say('write one.txt')
  const first = await question(session)
  await terminal.sees(/create one.txt/)
  t.match(session.state.requests?.[first], { tool: 'Write', kind: 'edit', content: [{ type: 'diff', newText: 'from the model\n' }] })
  await session.call('permission', { id: first, approved: true, choice: 'allow', shown: session.state.requests?.[first]?.shown ?? '' })
  await session.until(session => turnsEnded(session) === 1)
  await terminal.sees(/the dialog is closed/)
  t.equal(readFileSync(join(directory, 'one.txt'), 'utf8'), 'from the model\n')

  terminal.type('write two.txt\r')
  await question(session)
  terminal.type('1')
  await session.until(session => turnsEnded(session) === 2)
  terminal.type('write three.txt\r')
  await question(session)
  terminal.type('2')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame([existsSync(join(directory, 'two.txt')), existsSync(join(directory, 'three.txt'))], [true, false])
  t.match(Object.values(session.state.completedRequests ?? {}), [
    { status: 'approved' },
    { status: 'approved', answeredBy: 'the terminal' },
    { status: 'denied', answeredBy: 'the terminal' }
  ])
  const ends = session.events().flatMap(event => (event.t === 'tool-call-end' ? event.status : []))
  t.strictSame(ends, ['completed', 'completed', 'denied'])
})

t.test("the person's reason for a no on the phone reaches Claude with the no", how, async t => {
  const { session } = await claudeAtTerminal(t)
  await session.say('write one.txt')
  await session.call('permission', { id: await question(session), approved: false, reason: 'ask Ann first' })
  await session.until(session => turnsEnded(session) === 1)
  const end = session.events().find(event => event.t === 'tool-call-end')
  t.match(end, { status: 'denied', content: [{ text: /said no, on their phone: ask Ann first/ }] })
})

t.test('allowing it for the session on the phone changes the mode in the terminal', how, async t => {
  const { session, directory } = await claudeAtTerminal(t)
  await session.say('write one.txt')
  await session.call('permission', { id: await question(session), approved: true, choice: 'always' })
  await session.until(session => turnsEnded(session) === 1)
  await session.say('write two.txt')
  await session.until(session => turnsEnded(session) === 2)
  t.ok(existsSync(join(directory, 'two.txt')), 'without a question')
  t.equal(session.metadata.currentOperatingModeCode, 'acceptEdits')
})

t.test('text written at the terminal grows on the phone meanwhile, and stays in place', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  const words = 'one two three four five six'
  terminal.type(`slow 1500 ${words}\r`)
  await session.until(({ partials }) => partials.length > 1)
  t.equal(turnsEnded(session), 0)
  await session.until(session => turnsEnded(session) === 1)
  t.ok(session.partials.every(({ text }) => words.startsWith(text)))
  const blocks = new Set(session.partials.map(({ block }) => block))
  const whole = session.messages.flatMap(body => envelopeOf(body) ?? []).find(({ ev }) => ev.t === 'text')
  t.strictSame([...blocks], [whole?.id])
})

t.test('an overwritten file is shown with its previous content', how, async t => {
  const { session, directory } = await claudeAtTerminal(t)
  writeFileSync(join(directory, 'old.txt'), 'from before\n')
  await session.say('write old.txt')
  const id = await question(session)
  t.match(session.state.requests?.[id]?.content, [{ type: 'diff', oldText: 'from before\n', newText: 'from the model\n' }])
  await session.call('permission', { id, approved: true })
  await session.until(session => turnsEnded(session) === 1)
  const started = session.events().find(event => event.t === 'tool-call-start')
  t.match(started, { content: [{ type: 'diff', oldText: 'from before\n' }] })
})

t.test(
  "the mode is changed with the keys of the terminal; the phone's choice is rejected, and applies once it is in control",
  how,
  async t => {
    const { terminal, session } = await claudeAtTerminal(t)
    terminal.type('\x1b[Z')
    await terminal.sees(/mode acceptEdits/)
    terminal.type('go on\r')
    await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'acceptEdits')
    await session.until(session => turnsEnded(session) === 1)
    await t.rejects(session.call('setMode', { mode: 'plan' }), { message: /its mode is chosen there.*once your phone takes over/ })
    t.equal(session.metadata.currentOperatingModeCode, 'acceptEdits')
    await session.call('switch', { to: 'remote' })
    await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'plan')
  }
)

t.test(
  'a model chosen on the phone while Claude is at its terminal applies once the phone is in control, and that is announced once',
  how,
  async t => {
    const { session } = await claudeAtTerminal(t)
    await t.rejects(session.call('setModel', { model: 'deep' }), { message: /model is chosen there.*once your phone takes over/ })
    for (const turn of [1, 2]) {
      await session.say(`hello ${turn}`, { model: 'deep' })
      await session.until(session => turnsEnded(session) === turn)
    }
    t.equal(session.events().filter(event => event.t === 'service' && /model/.test(event.text)).length, 1)
    await session.call('switch', { to: 'remote' })
    await session.until(({ metadata }) => metadata.currentModelCode === 'deep')
    await session.say('hello 3', { model: 'deep' })
    await session.until(session => turnsEnded(session) === 3)
    t.equal(session.events().filter(event => event.t === 'service' && /model/.test(event.text)).length, 1, 'and it needs no other word')

    await session.call('switch', { to: 'local' })
    await session.until(({ state }) => state.controlledByUser === true)
    await t.rejects(session.call('setModel', { model: 'gone' }))
    await session.call('switch', { to: 'remote' })
    await session.until(session => session.events().some(event => event.t === 'service' && /no model gone/.test(event.text)))
  }
)

t.test('a session has the title of its conversation at the terminal', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type('hello\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('/name\r')
  terminal.type('more\r')
  await session.until(session => turnsEnded(session) === 2)
  await session.until(({ metadata }) => metadata.summary?.text === 'Chosen')
})

t.test('Esc in the terminal ends the turn on the phone, with the half-written text', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type(`slow 20000 ${'word '.repeat(100)}\r`)
  await session.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  await session.until(({ metadata }) => metadata.agentSessionId !== undefined)
  await terminal.sees(/> slow/)
  terminal.type('\x1b')
  await terminal.sees(/Interrupted/)
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })

  terminal.type('write never.txt\r')
  await question(session)
  terminal.type('\x1b')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(Object.keys(session.state.requests ?? {}), [], 'and its question is over')
})

t.test('the phone takes control mid-turn, any key takes it back, and nothing is lost or sent twice', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session } = computer
  terminal.type(`slow 30000 ${'word '.repeat(200)}\r`)
  await session.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  await session.call('switch', { to: 'remote' })
  await session.until(session => session.state.controlledByUser === false && turnsEnded(session) === 1)
  await terminal.sees(/Any key takes it back/)
  t.notMatch(terminal.screen, /Resume this session with/, 'which is not how it goes on')
  await session.say('second')
  await session.until(session => turnsEnded(session) === 2)
  await session.say('write by-phone.txt')
  await session.call('permission', { id: await question(session), approved: true })
  await session.until(session => turnsEnded(session) === 3)

  terminal.type(' ')
  await session.until(({ state }) => state.controlledByUser === true)
  await terminal.sees(/> write by-phone.txt/)
  terminal.type('third\r')
  await session.until(session => turnsEnded(session) === 4)
  t.strictSame(read(session), written(computer))

  terminal.type('/exit\r')
  t.equal(await terminal.ended, 0)
  t.match(terminal.screen, /The session has ended\. Everything was delivered\./)
})

t.test('after /exit the session ends, and continues later with its history, neither lost nor repeated', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session, sitDown } = computer
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('/exit\r')
  t.equal(await terminal.ended, 0)
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  await session.say('said meanwhile')

  const again = sitDown(['resume', session.id])
  await session.until(session => turnsEnded(session) === 2)
  again.type('third\r')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(said(session), ['first', 'said meanwhile', 'third'])
  t.strictSame(texts(session), ['you said: first', 'you said: said meanwhile', 'you said: third'])
  t.strictSame(read(session), written(computer))
})

t.test('/clear continues under another id, which the next run resumes', how, async t => {
  const { terminal, session, sitDown } = await claudeAtTerminal(t)
  terminal.type('before\r')
  await session.until(session => turnsEnded(session) === 1)
  const before = session.metadata['claudeSessionId']
  terminal.type('/clear\r')
  await terminal.sees(/cleared/)
  terminal.type('after\r')
  await session.until(session => turnsEnded(session) === 2 && session.metadata['claudeSessionId'] !== before)
  t.strictSame(texts(session), ['you said: before', 'you said: after'])
  terminal.type('/exit\r')
  await terminal.ended
  const again = sitDown(['resume', session.id])
  await again.sees(/> after/)
  t.notMatch(again.screen, /> before/)
})

async function question(session: PhoneSession): Promise<string> {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  return id
}
