import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { read, said } from '../../kit/claude.ts'
import { codexAtTerminal } from '../../kit/codex.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'
import type { PhoneSession } from '../../kit/phone.ts'

// A scripted Codex on a real terminal; test/real has the same with the real one.
const how = { timeout: 90_000, skip: process.platform === 'win32' && 'the fake is a script' }

async function question(session: PhoneSession): Promise<string> {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length > 0)
  return Object.keys(session.state.requests ?? {})[0] ?? ''
}

t.test("input typed at the screen is on the phone, the phone's is on the screen, and neither waits for the other", how, async t => {
  const { terminal, session } = await codexAtTerminal(t)
  terminal.type('from the desk\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('from the phone')
  await session.until(session => turnsEnded(session) === 2)
  await terminal.sees(/\* you said: from the phone/)
  t.strictSame(read(session), [
    'user: from the desk',
    'assistant: you said: from the desk',
    'user: from the phone',
    'assistant: you said: from the phone'
  ])
  t.equal(session.state.controlledByUser, false)
  t.equal(session.metadata['codexThreadId'], session.metadata.agentSessionId)
  t.equal(session.metadata.currentOperatingModeCode, 'default')
})

t.test('a session reports the usage of its account, and when the exceeded limit ends', how, async t => {
  const { session } = await codexAtTerminal(t)
  const used = (percent: number) =>
    session.until(({ metadata }) => metadata.usageWindows?.some(({ usedPercent }) => usedPercent === percent) === true)
  await used(42)
  t.strictSame(session.metadata.usageWindows, [
    { minutes: 300, usedPercent: 42, resetsAt: 1_900_000_000_000, isReached: false },
    { minutes: 10080, usedPercent: 7, isReached: false }
  ])
  await session.say('limit')
  await used(100)
  t.match(session.metadata.usageWindows, [
    { minutes: 300, isReached: true },
    { minutes: 10080, isReached: false }
  ])
})

t.test('the first answer to a question wins, from either side, and closes the other', how, async t => {
  const { terminal, session, directory } = await codexAtTerminal(t)
  await session.say('write one.txt')
  const id = await question(session)
  await terminal.sees(/May I\?/)
  await session.call('permission', { id, approved: true, choice: 'accept', shown: session.state.requests?.[id]?.shown ?? '' })
  await terminal.sees(/the dialog is closed/)
  await session.until(session => turnsEnded(session) === 1)
  for (const [turn, key, file] of [
    [2, '1', 'two.txt'],
    [3, '2', 'three.txt']
  ] as const) {
    terminal.type(`write ${file}\r`)
    await question(session)
    terminal.type(key)
    await session.until(session => turnsEnded(session) === turn)
  }
  t.strictSame(
    ['one.txt', 'two.txt', 'three.txt'].map(file => existsSync(join(directory, file))),
    [true, true, false]
  )
  t.match(Object.values(session.state.completedRequests ?? {}), [
    { status: 'approved' },
    { status: 'approved', answeredBy: 'the terminal' },
    { status: 'denied', answeredBy: 'the terminal' }
  ])
})

t.test('a question open before its thread could be joined has its content, and is asked once', how, async t => {
  const { terminal, session, directory } = await codexAtTerminal(t, { FAKE_KEEPS_LATE: '1' })
  await session.say('write one.txt')
  const id = await question(session)
  t.match(session.state.requests?.[id], { tool: 'Write', kind: 'edit', content: [{ type: 'diff', newText: 'from the model\n' }] })
  await session.call('permission', { id, approved: true, choice: 'accept', shown: session.state.requests?.[id]?.shown ?? '' })
  await session.until(session => turnsEnded(session) === 1)
  await terminal.sees(/\* all done/)
  t.ok(existsSync(join(directory, 'one.txt')))
  t.equal(Object.keys(session.state.completedRequests ?? {}).length, 1)
  t.equal(Object.keys(session.state.requests ?? {}).length, 0)
})

t.test("the person's reason for a stop is in the conversation once, also after the session was resumed", how, async t => {
  const { terminal, session, sitDown, written } = await codexAtTerminal(t)
  await session.say('write one.txt')
  await session.call('permission', { id: await question(session), approved: false, decision: 'abort', reason: 'ask Ann first' })
  await session.until(session => turnsEnded(session) === 2)
  terminal.kill('SIGTERM')
  await terminal.ended
  sitDown(['resume', session.id])
  await session.say('later')
  await session.until(session => turnsEnded(session) === 3)
  const told = 'user: I stopped you at “Write one.txt”: ask Ann first'
  t.strictSame(
    written(String(session.metadata.agentSessionId)).filter(line => line.startsWith('user: ')),
    ['user: write one.txt', told, 'user: later']
  )
})

t.test('a new conversation started on its screen is followed, and can ask too', how, async t => {
  const { terminal, session, directory } = await codexAtTerminal(t)
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  const before = session.metadata.agentSessionId
  terminal.type('/new\r')
  await session.until(({ metadata }) => metadata.agentSessionId !== before)
  terminal.type('write four.txt\r')
  await question(session)
  t.equal(existsSync(join(directory, 'four.txt')), false)
  terminal.type('1')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(readFileSync(join(directory, 'four.txt'), 'utf8'), 'from the model\n')
  t.strictSame(said(session), ['first', 'write four.txt'])
})

t.test('an earlier conversation resumed on its screen is followed once it has new messages, and nothing is sent again', how, async t => {
  const { terminal, session } = await codexAtTerminal(t)
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  const first = session.metadata.agentSessionId
  terminal.type('/new\r')
  await session.until(({ metadata }) => metadata.agentSessionId !== first)
  terminal.type('second\r')
  await session.until(session => turnsEnded(session) === 2)
  terminal.type(`/goto ${first}\r`)
  await terminal.sees(/went there/)
  terminal.type('third\r')
  await session.until(session => turnsEnded(session) === 3)
  t.equal(session.metadata.agentSessionId, first)
  await session.say('fourth')
  await terminal.sees(/\* you said: fourth/)
  await session.until(session => turnsEnded(session) === 4)
  t.strictSame(said(session), ['first', 'second', 'third', 'fourth'])
  t.strictSame(
    texts(session),
    ['first', 'second', 'third', 'fourth'].map(text => `you said: ${text}`)
  )
})

t.test('its screen may be closed or killed: the phone continues, and any key reopens it with the full history', how, async t => {
  const { terminal, session } = await codexAtTerminal(t)
  terminal.type('before\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('/quit\r')
  await terminal.sees(/Any key opens Codex here again/)
  await session.say('meanwhile')
  await session.until(session => turnsEnded(session) === 2)
  terminal.type('x')
  await terminal.sees(/\* you said: meanwhile/)
  terminal.type('/crash\r')
  await session.until(session =>
    session.events().some(event => event.t === 'service' && /screen was closed \(killed by SIGKILL\)/.test(event.text))
  )
  await session.say('and on')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(said(session), ['before', 'meanwhile', 'and on'])
})

t.test('a wrapper killed mid-turn: nothing is lost, nothing is sent twice, and the order stays [W1, X1]', how, async t => {
  const { terminal, session, sitDown } = await codexAtTerminal(t)
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('many 60')
  await session.until(session => texts(session).includes('line 5'))
  terminal.kill('SIGKILL')
  await terminal.ended
  await session.say('while nobody was there')
  const again = sitDown(['resume', session.id])
  await session.until(session => texts(session).includes('you said: while nobody was there'))
  await again.sees(/\* you said: while nobody was there/)
  t.strictSame(said(session), ['first', 'many 60', 'while nobody was there'])
  const lines = texts(session).filter(text => text.startsWith('line'))
  t.strictSame(
    lines,
    lines.map((_, index) => `line ${index + 1}`)
  )
  t.ok(lines.length >= 5)
  await session.until(session => turnsEnded(session) === 3)
  const events = session.events().map(({ t }) => t)
  t.equal(events.filter(t => t === 'turn-start').length, 3)
})

t.test('a killed app server ends the session with the cause, and it can be resumed', how, async t => {
  const { terminal, session, sitDown } = await codexAtTerminal(t)
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  for (const pid of childrenOf(terminal.pid)) if (isAppServer(pid)) process.kill(pid, 'SIGKILL')
  t.equal(await terminal.ended, 1, terminal.screen)
  t.match(terminal.screen, /The agent exited unexpectedly \(killed by SIGKILL\)/)
  const again = sitDown(['resume', session.id])
  await again.sees(/\* you said: first/)
  await session.say('second')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(read(session), ['user: first', 'assistant: you said: first', 'user: second', 'assistant: you said: second'])
})

t.test('a half-written text at the death of its app server is marked as cut off, and its turn ends once [W1]', how, async t => {
  const { terminal, session, sitDown } = await codexAtTerminal(t)
  await session.say(`slow 60000 ${'word '.repeat(600)}`)
  await session.until(({ partials }) => partials.some(({ text }) => text.startsWith('word word')))
  for (const pid of childrenOf(terminal.pid)) if (isAppServer(pid)) process.kill(pid, 'SIGKILL')
  await terminal.ended
  const again = sitDown(['resume', session.id])
  await again.sees(/❯/)
  await session.say('and on')
  await session.until(session => texts(session).includes('you said: and on') && turnsEnded(session) === 2)
  // Whether its screen or its server is seen to end first is a matter of chance, and so is where that is said.
  const told = session.events().filter(({ t }) => t !== 'service')
  t.strictSame(
    told.map(({ t }) => t),
    ['turn-start', 'text', 'turn-end', 'turn-start', 'text', 'turn-end']
  )
  t.match(told[1], { text: /^word word/, cut: true })
})

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

/** Not one that ended since it was listed. */
function isAppServer(pid: number): boolean {
  try {
    return /app-server/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  } catch {
    return false
  }
}
