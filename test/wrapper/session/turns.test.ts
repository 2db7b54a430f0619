import t from 'tap'
import { systemClock } from '../../../lib/async/clock.ts'
import { envelopeOf, newEnvelope } from '../../../lib/client/sealed/messages.ts'
import type { MessageBody, MessageMeta, SessionEvent } from '../../../lib/protocol/sealed/messages.ts'
import type { AgentEvent } from '../../../lib/wrapper/agents/agent.ts'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import { createCursor } from '../../../lib/wrapper/session/cursor.ts'
import type { SessionParts } from '../../../lib/wrapper/session/parts.ts'
import { createQueue, type Queue } from '../../../lib/wrapper/session/queue.ts'
import { createTurns } from '../../../lib/wrapper/session/turns.ts'
import { manualClock } from '../../kit/manual-clock.ts'

t.test('a message that the agent could not be given ends its turn with a sentence, and is first in the next', async t => {
  const { turns, queue, given, told, notes } = turnsOf(n => n > 1)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => told.length === 1)
  t.match(told, [{ type: 'turn-ended', reason: 'failed', error: /could not be passed to the agent/ }])
  t.equal(queue.length, 1)
  t.match(notes(), { turn: null, cursor: 0 }, 'a next run would give it to the agent')

  write(queue, 2, 'two')
  await until(() => given.length === 2)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await until(() => given.length === 3)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  t.strictSame(given, ['one', 'one', 'two'])
  t.match(notes(), { cursor: 2 })
  turns.close()
  await serving
})

t.test('while notes are not on disk the agent is given nothing', async t => {
  const disk = Promise.withResolvers<void>()
  const { turns, queue, given, notes } = turnsOf(
    () => true,
    () => disk.promise
  )
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => notes().turn !== null)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(given, [])
  disk.resolve()
  await until(() => given.length === 1)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  turns.close()
  await serving
})

t.test('stopping while no turn runs waits for messages that are on their way, and withholds the next one', async t => {
  const caughtUp = Promise.withResolvers<void>()
  const { turns, queue, given, told, cancelled } = turnsOf(() => true, undefined, { caughtUp: () => caughtUp.promise })
  const stopping = turns.stop()
  await new Promise(resolve => setImmediate(resolve))
  t.equal(cancelled(), 0)
  write(queue, 1, 'on its way')
  caughtUp.resolve()
  await stopping
  t.equal(cancelled(), 1)
  const serving = turns.serve(0)
  await until(() => told.length === 1)
  t.match(told, [{ reason: 'cancelled' }])
  write(queue, 2, 'next')
  await until(() => given.length === 1)
  t.strictSame(given, ['next'])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('stopping does not wait for the server while a turn runs, nor fail without one', async t => {
  const { turns, queue, given, cancelled } = turnsOf(() => true, undefined, { caughtUp: () => new Promise<void>(() => {}) })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  await turns.stop()
  t.equal(cancelled(), 1)
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
  const broken = turnsOf(() => true, undefined, { caughtUp: async () => Promise.reject(new Error('closed')) })
  await broken.turns.stop()
  t.equal(broken.cancelled(), 1)
})

t.test('a turn that ends while its prompt is handed over is not stopped afterwards', async t => {
  const { turns, queue, given, calls, cancelled } = turnsOf(() => true, undefined, {
    async prompt() {
      await turns.stop()
      await turns.end({ type: 'turn-ended', reason: 'done' })
      return true
    }
  })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1 && !turns.isRunning && !queue.hasNext)
  t.equal(cancelled(), 1)
  t.equal(calls.filter(call => call.startsWith('ended')).length, 1)
  turns.close()
  await serving
})

t.test('a turn is over only once its end is stored', async t => {
  const stored = Promise.withResolvers<void>()
  const { turns, queue, given, told, notes } = turnsOf(() => true, undefined, { stored: () => stored.promise })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  turns.close()
  const ending = turns.end({ type: 'turn-ended', reason: 'done' })
  await until(() => told.length === 1)
  await new Promise(resolve => setImmediate(resolve))
  t.ok(turns.isRunning)
  t.type(notes().turn, 'string', 'a next run would end it')
  stored.resolve()
  await ending
  t.notOk(turns.isRunning)
  t.equal(notes().turn, null)
  await serving
})

t.test('a turn without a prompt ends only once its beginning is stored', async t => {
  const begun = Promise.withResolvers<void>()
  const joined = Promise.withResolvers<void>()
  const { turns, queue, calls, told } = turnsOf(() => true, undefined, {
    begun: () => begun.promise,
    async join() {
      await joined.promise
      throw new Error('no such file')
    }
  })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => turns.isRunning)
  joined.resolve()
  await until(() => calls.includes('turn of a row'))
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(told, [])
  begun.resolve()
  await until(() => told.length === 1)
  turns.close()
  await serving
})

t.test('a message not handed over because of an error is reported, and is first in the next turn', async t => {
  for (const broken of ['join', 'prompt'] as const) {
    const works: Required<Pick<Fakes, 'join' | 'prompt'>> = { join: async text => ({ text, images: [] }), prompt: async () => true }
    let times = 0
    const fails = async (text: string) => {
      if (times++ > 0) return works[broken](text) as never
      throw new Error('no space left on device')
    }
    const { turns, queue, given, told, notes } = turnsOf(() => true, undefined, { ...works, [broken]: fails })
    const serving = turns.serve(0)
    write(queue, 1, 'one')
    await until(() => told.length === 1)
    t.match(told, [{ type: 'turn-ended', reason: 'failed', error: /could not be passed to the agent: no space left on device\./ }], broken)
    t.match(notes(), { turn: null, cursor: 0 })
    write(queue, 2, 'two')
    await until(() => given.at(-1) === 'one' && queue.length === 1)
    await turns.end({ type: 'turn-ended', reason: 'done' })
    await until(() => given.at(-1) === 'two')
    turns.close()
    await turns.end({ type: 'turn-ended', reason: 'done' })
    await serving
  }
})

t.test('a message that the agent has recorded after all is not given to it again', async t => {
  const { turns, queue, cursor, given, told, notes } = turnsOf(n => n > 1, undefined, { writesDown: true })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => told.length === 1)
  await turns.hearTerminal({ type: 'prompted', text: 'one', isOurs: true })
  cursor.noteSent(null)
  t.match(notes(), { cursor: 1 })
  t.equal(queue.length, 0)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  write(queue, 2, 'two')
  await until(() => given.length === 2)
  t.strictSame(given, ['one', 'two'])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a session that ends while a message is handed over leaves it to the next process', async t => {
  const prompted = Promise.withResolvers<boolean>()
  const { turns, queue, given, told, notes } = turnsOf(() => true, undefined, { prompt: () => prompted.promise })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  write(queue, 2, 'two')
  await until(() => given.length === 1)
  turns.close()
  prompted.resolve(false)
  await serving
  t.match(told, [{ type: 'turn-ended', reason: 'cancelled' }])
  t.strictSame(given, ['one'])
  t.match(notes(), { cursor: 0, turn: null })
})

t.test('a message settled behind one that is being handed over is not counted before it', async t => {
  const joining = Promise.withResolvers<{ text: string; images: [] }>()
  const { turns, queue, joined, given, notes } = turnsOf(() => true, undefined, { join: () => joining.promise })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => joined.length === 1)
  write(queue, 2, 'two')
  tell(queue, { t: 'withdraw', localId: 'local-2' })
  t.match(notes(), { cursor: 0, settled: [2] }, 'a process that dies now leaves the first one to the next')
  joining.resolve({ text: 'one', images: [] })
  await until(() => given.length === 1)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  t.match(notes(), { cursor: 2, settled: [] })
  turns.close()
  await serving
})

t.test('a message withdrawn while its files load is not handed over, and one that was handed over says so', async t => {
  const joining = Promise.withResolvers<{ text: string; images: [] }>()
  const noted = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const disk = [...noted]
  const { turns, queue, joined, given, told, kept, notes } = turnsOf(
    () => true,
    async () => disk.shift()?.promise,
    { join: async text => (text === 'one' ? joining.promise : { text, images: [] }) }
  )
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => joined.length === 1)
  tell(queue, { t: 'withdraw', localId: 'local-1' })
  write(queue, 2, 'two')
  joining.resolve({ text: 'one', images: [] })
  await until(() => notes().turn !== null)
  t.match(notes(), { cursor: 1 })
  t.strictSame(told, [], 'and nothing is told of its turn')
  tell(queue, { t: 'withdraw', localId: 'local-2' })
  t.strictSame(kept(), [], 'not known yet')
  noted[0]?.resolve()
  await until(() => kept().length === 1)
  t.strictSame(given, ['two'])
  t.match(kept(), [{ t: 'read', localId: 'local-2' }])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a stop before the agent has the message withdraws it permanently [W14]', async t => {
  const joining = Promise.withResolvers<{ text: string; images: [] }>()
  const { turns, queue, joined, given, told, notes } = turnsOf(() => true, undefined, {
    join: async text => (text === 'one' ? joining.promise : { text, images: [] })
  })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => joined.length === 1)
  await turns.stop()
  joining.resolve({ text: 'one', images: [] })
  await until(() => told.length === 1)
  t.match(told, [{ type: 'turn-ended', reason: 'cancelled' }])
  t.match(notes(), { turn: null, cursor: 1, pendingPrompt: null })
  write(queue, 2, 'two')
  await until(() => given.length === 1)
  t.strictSame(given, ['two'], 'one stop stops one message')
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a stop that arrives with the message, before its turn, applies to that turn [W14]', async t => {
  const { turns, queue, given, told } = turnsOf(() => true)
  write(queue, 1, 'one')
  await turns.stop()
  const serving = turns.serve(0)
  await until(() => told.length === 1)
  t.match(told, [{ type: 'turn-ended', reason: 'cancelled' }])
  t.strictSame(given, [])
  write(queue, 2, 'two')
  await until(() => given.length === 1)
  t.strictSame(given, ['two'], 'and to no other')
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('an agent that is just accepting a message is stopped once it has it [W14]', async t => {
  for (const isTaken of [true, false]) {
    const taking = Promise.withResolvers<boolean>()
    const { turns, queue, given, told, cancelled } = turnsOf(() => true, undefined, { prompt: () => taking.promise })
    const serving = turns.serve(0)
    write(queue, 1, 'one')
    await until(() => given.length === 1)
    await turns.stop()
    const before = cancelled()
    taking.resolve(isTaken)
    if (isTaken) {
      await until(() => cancelled() > before)
      await turns.end({ type: 'turn-ended', reason: 'cancelled' })
    } else await until(() => told.length === 1)
    t.match(told, [{ type: 'turn-ended', reason: 'cancelled' }], `taken: ${isTaken}`)
    t.equal(queue.length, 0)
    turns.close()
    await serving
  }
})

t.test('a message at which the agent was stopped before recording it is not handed over again [W14]', async t => {
  const { turns, queue, notes } = turnsOf(() => true, undefined, { writesDown: true })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => notes().pendingPrompt != null && !queue.hasNext)
  t.match(notes(), { cursor: 0, pendingPrompt: { seq: 1 } })
  await turns.stop()
  await turns.end({ type: 'turn-ended', reason: 'cancelled' })
  t.match(notes(), { cursor: 1, pendingPrompt: null })
  turns.close()
  await serving
})

t.test('a stop when nothing runs or waits stops nothing later [W14]', async () => {
  const { turns, queue, given } = turnsOf(() => true)
  const serving = turns.serve(0)
  await turns.stop()
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a file for the next message is not given with one that the turn does not accept', async t => {
  const { turns, queue, given, joined, steered, cancelled } = turnsOf(() => true)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  write(queue, 2, 'two', { steer: true })
  await until(() => steered.length === 1)
  tell(queue, { t: 'file', ref: 'sessions/s/attachments/a.enc', name: 'a.png', size: 3 })
  steered[0]?.resolve(false)
  await until(() => cancelled() === 1)
  await turns.end({ type: 'turn-ended', reason: 'cancelled' })
  await until(() => given.length === 2)
  write(queue, 3, 'three')
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await until(() => given.length === 3)
  t.strictSame(given, ['one', 'two', 'three'])
  t.match(joined, [[], [], [{ name: 'a.png' }]])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a message that steers keeps its file until the agent has it', async t => {
  const { turns, queue, given, joined, cancelled } = turnsOf(n => n !== 2)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  tell(queue, { t: 'file', ref: 'sessions/s/attachments/a.enc', name: 'a.png', size: 3 })
  write(queue, 2, 'two', { steer: true })
  await until(() => cancelled() === 1)
  await turns.end({ type: 'turn-ended', reason: 'cancelled' })
  await until(() => given.length === 2)
  write(queue, 3, 'three')
  await until(() => given.length === 3)
  t.strictSame(given, ['one', 'two', 'two'])
  t.match(joined, [[], [{ name: 'a.png' }], [{ name: 'a.png' }]])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('nothing is handed over before it is clear whether the turn accepted a steering message, which then comes first', async t => {
  const { turns, queue, given, steered, notes } = turnsOf(() => true)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  write(queue, 2, 'waits')
  write(queue, 3, 'steers', { steer: true })
  await until(() => steered.length === 1)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(given, ['one'])
  t.match(notes(), { cursor: 1 })
  steered[0]?.resolve(false)
  await until(() => given.length === 2)
  t.strictSame(given, ['one', 'steers'])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a steering message withdrawn before the turn rejects it is not handed over; an error counts as a rejection', async t => {
  const { turns, queue, given, steered, cancelled, notes } = turnsOf(() => true)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  write(queue, 2, 'unwanted', { steer: true })
  await until(() => steered.length === 1)
  tell(queue, { t: 'withdraw', localId: 'local-2' })
  steered[0]?.resolve(false)
  await until(() => notes().cursor === 2)
  t.equal(cancelled(), 0, 'the turn goes on')
  write(queue, 3, 'three', { steer: true })
  await until(() => steered.length === 2)
  steered[1]?.reject(new Error('the line is closed'))
  await until(() => cancelled() === 1)
  await turns.end({ type: 'turn-ended', reason: 'cancelled' })
  await until(() => given.length === 2)
  t.strictSame(given, ['one', 'three'])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('what a turn begins and ends with is told in order, and with its reason', async t => {
  const { turns, queue, given, calls, metadata, notes } = turnsOf(() => true)
  const serving = turns.serve(0)
  write(queue, 1, 'one', { permissionMode: 'plan' })
  write(queue, 2, 'two')
  await until(() => given.length === 1)
  const { turn } = notes()
  t.equal(typeof turn, 'string')
  t.ok(turns.isRunning)
  t.strictSame(calls, ['began on the phone', 'model', 'thinking true', 'mode plan', 'choices plan', `turn ${turn}`, 'given one'])
  t.match(metadata(), { summary: { text: 'one', updatedAt: Number } })

  turns.step = 'make'
  calls.length = 0
  await turns.end({ type: 'turn-ended', reason: 'done' })
  t.notOk(turns.isRunning)
  t.equal(turns.step, undefined)
  t.strictSame(calls, ['thinking false', 'model ended', 'ended done, more'])
  await until(() => given.length === 2)
  calls.length = 0
  await turns.end({ type: 'turn-ended', reason: 'failed', error: 'no' })
  t.strictSame(calls, ['thinking false', 'model ended', 'ended failed, last'])
  t.match(metadata(), { summary: { text: 'one' } }, 'the first prompt names the session')
  turns.close()
  await serving
})

t.test('a name that the session already has stays', async t => {
  const { turns, queue, given, metadata, notes } = turnsOf(() => true, undefined, { summary: 'Mine' })
  const serving = turns.serve(0)
  write(queue, 1, 'x'.repeat(300))
  await until(() => given.length === 1)
  t.strictSame(metadata(), { summary: { text: 'Mine', updatedAt: 1 } })
  t.equal(notes().firstPrompt, 'x'.repeat(200))
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a prompt is handed over once its choices are made', async t => {
  const choosing = Promise.withResolvers<void>()
  const { turns, queue, given, calls } = turnsOf(() => true, undefined, { apply: () => choosing.promise })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => calls.some(call => call.startsWith('choices')))
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(given, [])
  t.notOk(
    calls.some(call => call.startsWith('mode ')),
    'without a mode none is set'
  )
  choosing.resolve()
  await until(() => given.length === 1)
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('an instruction is given only while nothing runs and nothing waits', async t => {
  const { turns, queue, given, kept } = turnsOf(() => true)
  const serving = turns.serve(0)
  t.ok(turns.instruct('compact'))
  t.notOk(turns.instruct('again'), 'one waits')
  await until(() => given.length === 1)
  t.notOk(turns.instruct('again'), 'one runs')
  t.strictSame([given, kept()], [['compact'], []], 'and is shown nowhere')
  await turns.end({ type: 'turn-ended', reason: 'done' })
  write(queue, 1, 'one')
  t.notOk(turns.instruct('again'))
  await until(() => given.length === 2)
  t.strictSame(given, ['compact', 'one'])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a text typed at the terminal is shown and has its turn, and others wait for its end', async t => {
  const { turns, queue, cursor, given, texts, calls, notes, cancelled } = turnsOf(() => true)
  const serving = turns.serve(0)
  await turns.hearTerminal({ type: 'prompted', text: 'typed', isOurs: false })
  t.ok(turns.isRunning)
  t.strictSame(texts(), ['typed'])
  t.strictSame(calls, ['began at the terminal', 'model', 'thinking true', 'turn of a row'])
  t.equal(notes().firstPrompt, 'typed')
  cursor.noteSent(null)
  t.equal(notes().turn, 'turn', 'noted with the next output')
  write(queue, 1, 'one')
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(given, [])

  await turns.hearTerminal({ type: 'prompted', text: 'and more', isOurs: false })
  t.strictSame([texts(), calls.length], [['typed', 'and more'], 4], 'it belongs to the turn that runs')
  await turns.stop()
  t.equal(cancelled(), 1)
  await turns.end({ type: 'turn-ended', reason: 'cancelled' })
  await until(() => given.length === 1)
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a prompt that the agent reports again begins no turn', async t => {
  const { turns, calls, texts } = turnsOf(() => true)
  await turns.hearTerminal({ type: 'prompted', text: 'one', isOurs: true })
  t.notOk(turns.isRunning)
  t.strictSame([calls, texts()], [[], []])
})

t.test('numbers of a server that was restored are forgotten, also by what is not stored yet', async t => {
  const { turns, queue, cursor, given, notes } = turnsOf(() => true, undefined, { writesDown: true })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => notes().pendingPrompt != null && !queue.hasNext)
  await turns.hearTerminal({ type: 'prompted', text: 'one', isOurs: true })
  write(queue, 2, 'two')
  turns.forgetNumbers()
  cursor.noteSent(null)
  t.match(notes(), { cursor: 0, pendingPrompt: null })
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await until(() => given.length === 2)
  t.match(notes(), { cursor: 0, pendingPrompt: { seq: null, text: 'two' } }, 'nor has a waiting one its number')
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('what an ended agent recorded but did not report is sent before the end of its turn', async t => {
  const { turns, queue, cursor, given, told } = turnsOf(() => true)
  const resending = t.capture(cursor, 'resendTurn', async () => {
    t.strictSame(told, [])
    return []
  })
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  await turns.end({ type: 'turn-ended', reason: 'failed', error: 'killed', isLost: true })
  t.equal(resending().length, 1)
  t.match(told, [{ error: 'killed' }])
  write(queue, 2, 'two')
  await until(() => given.length === 2)
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  t.equal(resending().length, 0, 'others have reported everything')
  await serving
})

t.test('closing waits for the end of the running turn, but not forever', async t => {
  const { turns, queue, given } = turnsOf(() => true)
  await turns.settle(1)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  turns.close()
  const settling = turns.settle(60_000).then(() => 'settled')
  t.equal(await Promise.race([settling, Promise.resolve('waits')]), 'waits')
  await turns.end({ type: 'turn-ended', reason: 'done' })
  t.equal(await settling, 'settled')
  await serving

  const stuck = turnsOf(() => true)
  void stuck.turns.serve(0)
  write(stuck.queue, 1, 'one')
  await until(() => stuck.given.length === 1)
  stuck.turns.close()
  await stuck.turns.settle(1)
  t.notOk(stuck.turns.isRunning)
})

t.test('the reason for a denial reaches the running turn, or is queued in words', async t => {
  const whyNot = { title: 'rm -rf build', reason: 'I need it' }
  const { turns, queue, given, steered, texts, notes } = turnsOf(() => true)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  const explaining = turns.explain(whyNot, { stops: false })
  await until(() => steered.length === 1)
  t.match(notes().reasons, [{ text: 'I said no to “rm -rf build”: I need it' }], 'on disk before the agent has it')
  steered[0]?.resolve(true)
  await explaining
  t.strictSame([notes().reasons, queue.length], [[], 0])

  const reason = 'I said no to “rm -rf build”: I need it'
  for (const [nth, settle] of (['resolve', 'reject'] as const).entries()) {
    given.length = 0
    write(queue, 2 + nth, 'waits')
    const again = turns.explain(whyNot, { stops: false })
    await until(() => steered.length === 2 + nth)
    await turns.end({ type: 'turn-ended', reason: 'done' })
    await new Promise(resolve => setImmediate(resolve))
    t.strictSame(given, [], 'the next turn waits until it is clear which one gets it')
    if (settle === 'resolve') steered.at(-1)?.resolve(false)
    else steered.at(-1)?.reject(new Error('the line is closed'))
    await again
    await until(() => given.length === 1)
    await turns.end({ type: 'turn-ended', reason: 'done' })
    await until(() => given.length === 2)
    t.strictSame(given, [reason, 'waits'], settle)
  }
  t.strictSame(texts(), [reason, reason])

  await turns.explain(whyNot, { stops: true })
  t.equal(steered.length, 3, 'a turn that is stopped is not told')
  t.equal(queue.length, 1)
  await turns.end({ type: 'turn-ended', reason: 'cancelled' })
  await until(() => given.length === 3)
  t.equal(given.at(-1), 'I stopped you at “rm -rf build”: I need it')
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('an agent that hears reasons with the answer is told only why it was stopped', async t => {
  const { turns, queue, steered, notes } = turnsOf(() => true, undefined, { hearsReasons: true })
  const whyNot = { title: 'make', reason: 'not now' }
  await turns.explain(whyNot, { stops: false })
  t.strictSame([queue.length, steered.length, notes().reasons], [0, 0, undefined])
  await turns.explain(whyNot, { stops: true })
  t.equal(queue.length, 1)
})

t.test('steering messages reach the turn one after the other, with their choices', async t => {
  const { turns, queue, given, steered, calls, cancelled, notes } = turnsOf(() => true)
  const serving = turns.serve(0)
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  calls.length = 0
  write(queue, 2, 'two', { steer: true, model: 'small' })
  write(queue, 3, 'three', { steer: true })
  await until(() => steered.length === 1)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(calls, ['choices {"steer":true,"model":"small"}', 'steer two'])
  steered[0]?.resolve(true)
  await until(() => steered.length === 2)
  t.match(notes(), { cursor: 2 })
  t.equal(calls.at(-1), 'steer three')
  steered[1]?.resolve(true)
  await until(() => notes().cursor === 3)
  t.equal(cancelled(), 0)
  write(queue, 4, 'four')
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame([steered.length, given.length, cancelled()], [2, 1, 0], 'others wait for the end of the turn')
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a steering message reaches the turn once its choices are made, and none reaches an ended one', async t => {
  let choosing = Promise.withResolvers<void>()
  const { turns, queue, given, steered, calls } = turnsOf(() => true, undefined, { apply: () => choosing.promise })
  const serving = turns.serve(0)
  choosing.resolve()
  write(queue, 1, 'one')
  await until(() => given.length === 1)
  choosing = Promise.withResolvers<void>()
  calls.length = 0
  write(queue, 2, 'two', { steer: true })
  write(queue, 3, 'three', { steer: true })
  await until(() => calls.length === 1)
  await new Promise(resolve => setImmediate(resolve))
  t.equal(steered.length, 0)
  choosing.resolve()
  await until(() => steered.length === 1)
  await turns.end({ type: 'turn-ended', reason: 'done' })
  steered[0]?.resolve(true)
  await until(() => given.length === 2)
  t.strictSame([given, steered.length], [['one', 'three'], 1])
  turns.close()
  await turns.end({ type: 'turn-ended', reason: 'done' })
  await serving
})

t.test('a steering message ends a turn that waits for a decision, or whose agent accepts none', async t => {
  for (const fakes of [{ open: ['a decision'] }, { steers: false }]) {
    const { turns, queue, given, steered, calls, cancelled } = turnsOf(() => true, undefined, fakes)
    const serving = turns.serve(0)
    write(queue, 1, 'one')
    await until(() => given.length === 1)
    write(queue, 2, 'two', { steer: true })
    await until(() => cancelled() === 1)
    t.strictSame([steered.length, queue.length], [0, 1])
    t.equal(calls.filter(call => call.startsWith('choices')).length, 1, 'its choices are made for its own turn')
    await turns.end({ type: 'turn-ended', reason: 'cancelled' })
    await until(() => given.length === 2)
    turns.close()
    await turns.end({ type: 'turn-ended', reason: 'done' })
    await serving
  }
})

t.test('an agent that does not say whether it accepts a message or a reason holds the next turn up for ten seconds', async t => {
  const whyNot = { title: 'make', reason: 'not now' }
  const says = 'I said no to “make”: not now'
  for (const isReason of [false, true]) {
    const clock = manualClock()
    const real = t.capture(systemClock, 'after', (ms: number, run: () => void) => clock.after(ms, run))
    const { turns, queue, given, steered } = turnsOf(() => true)
    const serving = turns.serve(0)
    write(queue, 1, 'one')
    await until(() => given.length === 1)
    const explaining = isReason ? turns.explain(whyNot, { stops: false }) : undefined
    if (!isReason) write(queue, 2, 'two', { steer: true })
    await until(() => steered.length === 1)
    await turns.end({ type: 'turn-ended', reason: 'done' })
    clock.advance(9_999)
    await new Promise(resolve => setImmediate(resolve))
    t.strictSame(given, ['one'])
    clock.advance(1)
    await explaining
    await until(() => given.length === 2)
    t.strictSame(given, ['one', isReason ? says : 'two'], 'what it did not accept comes first')
    steered[0]?.resolve(true)
    turns.close()
    await turns.end({ type: 'turn-ended', reason: 'done' })
    await serving
    t.strictSame(given.length, 2, 'and only once')
    real.restore()
  }
})

interface Fakes {
  apply?(): Promise<void>
  hearsReasons?: boolean
  steers?: boolean
  open?: string[]
  /** The title of the session. */
  summary?: string
  join?(text: string): Promise<{ text: string; images: [] }>
  prompt?(): Promise<boolean>
  writesDown?: boolean
  caughtUp?(): Promise<void>
  /** Until when the beginning and the end of a turn are not stored. */
  begun?(): Promise<void>
  stored?(): Promise<void>
}

/** Those of a session without a server, whose agent takes what it is given the n-th time, or not. */
function turnsOf(takes: (count: number) => boolean, noted = async () => {}, fakes: Fakes = {}) {
  const { join, prompt, apply, writesDown = false, hearsReasons = false, steers = true, open = [] } = fakes
  const calls: string[] = []
  let metadata: object = fakes.summary === undefined ? {} : { summary: { text: fakes.summary, updatedAt: 1 } }
  const given: string[] = []
  const joined: unknown[] = []
  const told: AgentEvent[] = []
  const bodies: MessageBody[] = []
  const steered: PromiseWithResolvers<boolean>[] = []
  let cancelled = 0
  let notes: SessionNotes = { tag: 't', server: '', key: null, metadata: { path: '', host: '' }, cursor: 0, settled: [], turn: null }
  const nothing = () => {}
  const agent = {
    writesDown,
    hearsReasons,
    async prompt(text: string) {
      calls.push(`given ${text}`)
      given.push(text)
      return prompt ? prompt() : takes(given.length)
    },
    ...(steers && {
      steer(text: string) {
        calls.push(`steer ${text}`)
        steered.push(Promise.withResolvers<boolean>())
        return steered.at(-1)?.promise
      }
    }),
    async cancel() {
      cancelled++
    },
    async setMode(mode: string) {
      calls.push(`mode ${mode}`)
      return true
    }
  }
  const folder = {
    get notes() {
      return notes
    },
    note(changes: Partial<SessionNotes>) {
      notes = { ...notes, ...changes }
    },
    noted
  }
  const put = async (body: MessageBody) => void bodies.push(body)
  const queue = createQueue({ folder, write: put, uplink: () => undefined, onChange: nothing })
  const cursor = createCursor({ agent, folder, queue, put })
  const parts = {
    agent,
    folder,
    queue,
    cursor,
    narrator: {
      async beginTurn({ name }: { name?: string } = {}) {
        calls.push(`turn ${name ?? 'of a row'}`)
        await fakes.begun?.()
        return name ?? 'turn'
      },
      async tell(event: AgentEvent) {
        told.push(event)
        await fakes.stored?.()
      }
    },
    uplink: {
      caughtUp: async () => fakes.caughtUp?.(),
      setThinking: (isThinking: boolean) => void calls.push(`thinking ${isThinking}`),
      changeMetadata(change: (metadata: object) => object) {
        metadata = change(metadata)
      }
    },
    notices: {
      turnBegan: (from: string) => void calls.push(from === 'phone' ? 'began on the phone' : 'began at the terminal'),
      turnEnded: (how: string, isLast: boolean) => void calls.push(`ended ${how}, ${isLast ? 'last' : 'more'}`)
    },
    modelWaits: { turnBegan: () => void calls.push('model'), turnEnded: () => void calls.push('model ended') },
    choices: {
      async apply(meta?: MessageMeta) {
        calls.push(`choices ${meta?.permissionMode ?? JSON.stringify({ steer: meta?.steer, model: meta?.model })}`)
        await apply?.()
      }
    },
    attachments: {
      async join(text: string, announced: unknown) {
        joined.push(announced)
        return join ? join(text) : { text, images: [] }
      }
    },
    requests: { open },
    onChange: nothing
  }
  return {
    turns: createTurns(parts as unknown as SessionParts),
    queue,
    cursor,
    given,
    joined,
    told,
    calls,
    metadata: () => metadata,
    texts: () => bodies.flatMap(body => (body.role === 'user' ? [body.content.text] : [])),
    steered,
    kept: () => bodies.map(body => envelopeOf(body)?.ev),
    cancelled: () => cancelled,
    notes: () => notes
  }
}

function write(queue: Queue, seq: number, text: string, meta: MessageMeta = {}): void {
  queue.hear({ role: 'user', content: { type: 'text', text }, meta: { sentFrom: 'web', ...meta } }, { seq, localId: `local-${seq}` })
}

function tell(queue: Queue, ev: SessionEvent): void {
  queue.hear({ role: 'session', content: { type: 'session', data: newEnvelope(ev, { role: 'user' }) } }, { seq: 100, localId: null })
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve))
}
