import t from 'tap'
import { envelopeOf, newEnvelope } from '../../../lib/client/sealed/messages.ts'
import type { MessageBody, MessageMeta, SessionEvent } from '../../../lib/protocol/sealed/messages.ts'
import type { AgentEvent } from '../../../lib/wrapper/agents/agent.ts'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import { createCursor } from '../../../lib/wrapper/session/cursor.ts'
import type { SessionParts } from '../../../lib/wrapper/session/parts.ts'
import { createQueue, type Queue } from '../../../lib/wrapper/session/queue.ts'
import { createTurns } from '../../../lib/wrapper/session/turns.ts'

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
  turns.close()
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

interface Fakes {
  join?(text: string): Promise<{ text: string; images: [] }>
  prompt?(): Promise<boolean>
  writesDown?: boolean
}

/** Those of a session without a server, whose agent takes what it is given the n-th time, or not. */
function turnsOf(takes: (count: number) => boolean, noted = async () => {}, { join, prompt, writesDown = false }: Fakes = {}) {
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
    async prompt(text: string) {
      given.push(text)
      return prompt ? prompt() : takes(given.length)
    },
    steer() {
      steered.push(Promise.withResolvers<boolean>())
      return steered.at(-1)?.promise
    },
    async cancel() {
      cancelled++
    },
    setMode: async () => true
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
    narrator: { beginTurn: async () => 'turn', tell: async (event: AgentEvent) => void told.push(event) },
    notices: { turnBegan: nothing, turnEnded: nothing },
    modelWaits: { turnBegan: nothing, turnEnded: nothing },
    choices: { apply: async () => {} },
    attachments: {
      async join(text: string, announced: unknown) {
        joined.push(announced)
        return join ? join(text) : { text, images: [] }
      }
    },
    requests: { open: [] },
    onChange: nothing
  }
  return {
    turns: createTurns(parts as unknown as SessionParts),
    queue,
    cursor,
    given,
    joined,
    told,
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
