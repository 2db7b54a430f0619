import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { envelopeOf, newEnvelope } from '../../../lib/client/sealed/messages.ts'
import type { MessageMeta, SessionEvent } from '../../../lib/protocol/sealed/messages.ts'
import { readNotes } from '../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import { createQueue, type Prompt, type Queue } from '../../../lib/wrapper/session/queue.ts'
import { startServer } from '../../kit/server.ts'
import { onePixel } from '../agents/contract.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

const file = { ref: 'sessions/s/attachments/a.enc', name: 'a.png', size: 3 }

/** One without an agent, and what is noted and told of it. */
function open(noted: Partial<SessionNotes> = {}) {
  const told: unknown[] = []
  let notes: SessionNotes = { tag: 't', server: '', key: null, metadata: { path: '', host: '' }, cursor: 0, turn: null, ...noted }
  const folder = {
    get notes() {
      return notes
    },
    note(changes: Partial<SessionNotes>) {
      notes = { ...notes, ...changes }
    }
  }
  const queue = createQueue({
    folder,
    write: async body => void told.push(envelopeOf(body)?.ev ?? body),
    uplink: () => undefined,
    onChange() {}
  })
  return { queue, told, notes: () => notes }
}

function say(queue: Queue, seq: number, meta: MessageMeta = {}, text = `number ${seq}`): void {
  queue.hear({ role: 'user', content: { type: 'text', text }, meta: { sentFrom: 'web', ...meta } }, { seq, localId: `local-${seq}` })
}

function tell(queue: Queue, ev: SessionEvent): void {
  queue.hear({ role: 'session', content: { type: 'session', data: newEnvelope(ev, { role: 'user' }) } }, { seq: 100, localId: null })
}

const withdraw = (queue: Queue, seq: number) => tell(queue, { t: 'withdraw', localId: `local-${seq}` })
const promptsOf = (queue: Queue, readUpTo = 0) => queue.prompts({ ready: async () => {}, readUpTo })

async function all(queue: Queue, readUpTo?: number): Promise<Prompt[]> {
  const taken: Prompt[] = []
  for await (const prompt of promptsOf(queue, readUpTo)) {
    taken.push(prompt)
    if (queue.length === 0) queue.close()
  }
  return taken
}

t.test('a queue closed while its reader is not ready yet hands out nothing', async t => {
  const { queue } = open()
  say(queue, 1)
  const taken: Prompt[] = []
  for await (const prompt of queue.prompts({ ready: async () => queue.close(), readUpTo: 0 })) taken.push(prompt)
  t.strictSame(taken, [])
  t.equal(queue.length, 1)
})

t.test('after the server was restored no message has a number, and those it numbers anew are handed out', async t => {
  const { queue, notes } = open()
  for (const seq of [1, 2]) say(queue, seq)
  const prompts = promptsOf(queue, 7)[Symbol.asyncIterator]()
  say(queue, 8)
  const taken = (await prompts.next()).value
  t.equal(taken.seq, 8, 'the agent has the others')
  for (const seq of [9, 10]) say(queue, seq)
  say(queue, 11, { replaces: 'local-10' }, 'better')
  queue.forgetNumbers()
  queue.read(taken)
  t.match(notes(), { cursor: 0, settled: undefined })
  say(queue, 1, {}, 'numbered anew')
  const rest: Prompt[] = []
  while (queue.length > 0) rest.push((await prompts.next()).value)
  t.strictSame(
    rest.map(({ text, seq, edits }) => [text, seq, edits]),
    [
      ['number 9', undefined, undefined],
      ['better', undefined, undefined],
      ['numbered anew', 1, undefined]
    ]
  )
})

t.test('one that steers precedes waiting ones, and follows earlier steering ones', async t => {
  const { queue } = open()
  for (const seq of [1, 2, 3, 4]) say(queue, seq, { steer: seq % 2 === 0 })
  t.equal(queue.isUrgent, true)
  t.strictSame(
    (await all(queue)).map(({ seq }) => seq),
    [2, 4, 1, 3]
  )
})

t.test('reasons precede everything that waits, the oldest first', async t => {
  const { queue, notes } = open({ reasons: [{ localId: 'left', text: 'left' }] })
  say(queue, 1)
  for (const reason of ['first', 'second']) queue.sayReason(queue.noteReason({ title: 'this', reason }, { stops: false }))
  const taken = await all(queue)
  t.match(
    taken.map(({ text }) => text),
    [/first/, /second/, 'left', 'number 1']
  )
  t.equal(notes().reasons?.length, 3, 'kept until the agent has them')
  for (const prompt of taken) queue.read(prompt)
  t.strictSame(notes().reasons, [])
})

t.test('a waiting message is not lost behind one that came before it', t => {
  const { queue, notes } = open({ cursor: 6 })
  for (const seq of [7, 8, 9]) say(queue, seq, { steer: seq === 9 })
  const steered = queue.takeUrgent()
  t.equal(steered?.seq, 9)
  if (steered) queue.read(steered)
  t.match(notes(), { cursor: 6, settled: [9] }, 'a later process begins with the first that waits')
  withdraw(queue, 7)
  t.match(notes(), { cursor: 7, settled: [9] })
  withdraw(queue, 8)
  t.strictSame([notes().cursor, notes().settled], [9, []])
  t.end()
})

t.test('a message settled by an earlier process is not handed over again, nor are its files', async t => {
  const { queue } = open({ settled: [8] })
  tell(queue, { t: 'file', ...file })
  say(queue, 8)
  say(queue, 9)
  t.match(await all(queue), [{ seq: 9, attachments: [] }])
})

t.test('a waiting message is withdrawn by its local id, and another stays', async t => {
  const { queue, notes } = open()
  say(queue, 1)
  say(queue, 2)
  withdraw(queue, 1)
  t.equal(queue.length, 1)
  withdraw(queue, 1)
  t.match(await all(queue), [{ seq: 2 }])
  t.equal(notes().cursor, 1)
})

t.test('an edited message keeps its place and name, and is settled with it', async t => {
  const { queue, notes, told } = open()
  for (const seq of [1, 2, 3]) say(queue, seq)
  tell(queue, { t: 'file', ...file })
  say(queue, 4, { replaces: 'local-2', model: 'quick' }, 'better')
  say(queue, 5, { replaces: 'local-2' }, 'best')
  say(queue, 6, { replaces: 'local-9' })
  t.strictSame(told, [{ t: 'apart', localId: 'local-6' }], 'one that does not wait cannot be replaced')
  const taken = await all(queue)
  t.match(taken, [
    { seq: 1 },
    { seq: 2, localId: 'local-2', text: 'best', attachments: [], meta: { model: 'quick' } },
    { seq: 3 },
    { seq: 6 }
  ])
  t.match(taken[1]?.edits, [{ seq: 4 }, { seq: 5 }])
  for (const prompt of taken.slice(0, 3)) queue.read(prompt)
  t.strictSame([notes().cursor, notes().settled], [5, []])
})

t.test('a waiting message is moved before another, and nothing moves when one of them no longer waits', async t => {
  const { queue } = open()
  for (const seq of [1, 2, 3, 4]) say(queue, seq)
  tell(queue, { t: 'move', localId: 'local-4', before: 'local-2' })
  tell(queue, { t: 'move', localId: 'local-9', before: 'local-1' })
  tell(queue, { t: 'move', localId: 'local-3', before: 'local-9' })
  t.strictSame(
    (await all(queue)).map(({ seq }) => seq),
    [1, 4, 2, 3]
  )
})

t.test('files sent before a text belong to it, and not to input at the terminal', async t => {
  const { queue } = open()
  tell(queue, { t: 'file', ...file })
  await queue.say('here')
  say(queue, 1)
  say(queue, 2)
  t.match(
    (await all(queue)).map(({ attachments }) => attachments),
    [[], [file], []]
  )
})

t.test('a failed hand-over is retried before the next message, and not without one', async t => {
  const { queue } = open()
  for (const seq of [1, 2]) say(queue, seq)
  const taken: number[] = []
  let isHeldBack = false
  const reading = (async () => {
    for await (const prompt of promptsOf(queue)) {
      taken.push(prompt.seq ?? 0)
      if (!isHeldBack) queue.holdBack(prompt)
      isHeldBack = true
    }
  })()
  while (!isHeldBack) await Promise.resolve()
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(taken, [1])
  t.equal(queue.length, 2)
  say(queue, 3)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(taken, [1, 1, 2, 3])
  queue.close()
  await reading
})

t.test('messages behind a failed hand-over are handed over when it is withdrawn', async t => {
  const { queue } = open()
  for (const seq of [1, 2]) say(queue, seq)
  const taken = promptsOf(queue)[Symbol.asyncIterator]()
  queue.holdBack((await taken.next()).value)
  const next = taken.next()
  await new Promise(resolve => setImmediate(resolve))
  withdraw(queue, 1)
  t.match(await next, { value: { seq: 2 } })
  queue.close()
})

t.test('a message that the agent is known to have is not handed over, but a later edit of it is', async t => {
  const { queue, told } = open({ cursor: 1 })
  say(queue, 1)
  say(queue, 2)
  say(queue, 3, { replaces: 'local-1' }, 'better')
  t.match(await all(queue, 1), [{ seq: 2 }, { seq: 3, text: 'better' }])
  t.strictSame(told, [{ t: 'apart', localId: 'local-3' }])
})

t.test('the text that the agent has been given already is not sent again, and counts as settled', async t => {
  const { queue, told, notes } = open()
  say(queue, 1)
  const [first] = await all(queue)
  say(queue, 2, { replaces: 'local-1' }, 'number 1')
  t.strictSame(told, [])
  if (first) queue.read(first)
  t.strictSame([queue.length, notes().cursor, notes().settled], [0, 2, []])
})

const long = `SCRIPT: slow 60000 ${'word '.repeat(300)}`

function cursor(home: string): number | undefined {
  const [folder = ''] = readdirSync(join(home, 'sessions'))
  return readNotes(join(home, 'sessions', folder))?.cursor
}

t.test('a message that steers ends the running turn, and precedes waiting ones', async t => {
  const { session, home } = await demo(t)
  await session.say(long)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text waits')
  await session.say('SCRIPT: text steers', { steer: true })
  await session.until(session => turnsEnded(session) === 3)
  t.match(texts(session).slice(-2), ['steers', 'waits'])
  t.strictSame(
    session.events().flatMap(event => (event.t === 'turn-end' ? event.status : [])),
    ['cancelled', 'completed', 'completed']
  )
  t.equal(cursor(home), session.seqOf('SCRIPT: text steers'), 'and none of them comes again')
})

t.test('a message that the turn does not accept is the first of the next, before waiting ones', async t => {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  runWrapper(t, { home, args: ['run', '--', process.execPath, resolve('test/wrapper/agents/odd-agent.mjs')] })
  const session = await phone.session()
  await session.say('deaf')
  await session.until(({ partials }) => partials.length > 0)
  await session.say('refuse')
  await session.say('news', { steer: true })
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(
    session.events().flatMap(event => (event.t === 'turn-end' ? event.status : [])),
    ['cancelled', 'completed', 'failed']
  )
  t.equal(cursor(home), session.seqOf('news'), 'and it does not come again')
})

t.test('a message withdrawn while it waits is not handed over, even after a crash', async t => {
  const { session, home, wrapper } = await demo(t)
  await session.say(long)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text first')
  const unwanted = await session.say('SCRIPT: text unwanted')
  await session.tell({ t: 'withdraw', localId: unwanted })
  await session.say('SCRIPT: text last')
  // Answered after what was said before it was heard.
  await session.until(session => session.seqOf('SCRIPT: text last') !== undefined)
  await session.call('setMode', { mode: 'plan' })
  await wrapper.kill('SIGKILL')
  const resumed = runWrapper(t, { home, args: ['flush'] })
  await resumed.ended
  runWrapper(t, { home, args: ['resume', 'demo'] })
  await session.until(session => texts(session).includes('last'))
  t.strictSame(texts(session).slice(-2), ['first', 'last'])
})

t.test('a waiting message is sent with its new text and in its new place, once, also after a crash', async t => {
  const { session, home, wrapper } = await demo(t)
  await session.say(long)
  await session.until(({ partials }) => partials.length > 0)
  const first = await session.say('SCRIPT: text first')
  const second = await session.say('SCRIPT: text sceond')
  await session.say('SCRIPT: text third')
  await session.say('SCRIPT: text second', { replaces: second })
  await session.tell({ t: 'move', localId: second, before: first })
  // Answered after what was said before it was heard.
  await session.until(session => session.seqOf('SCRIPT: text second') !== undefined)
  await session.call('setMode', { mode: 'plan' })
  await wrapper.kill('SIGKILL')
  await runWrapper(t, { home, args: ['flush'] }).ended
  runWrapper(t, { home, args: ['resume', 'demo'] })
  await session.until(session => texts(session).includes('third'))
  t.strictSame(texts(session).slice(-3), ['second', 'first', 'third'])
  t.match(
    session.events().filter(({ t }) => t === 'read' || t === 'apart'),
    [{ t: 'read', localId: second }],
    'devices hear that it was read before an earlier one'
  )
  t.equal(cursor(home), session.seqOf('SCRIPT: text second'), 'and none of them comes again')
})

t.test('an edit that comes too late is a message of its own, and a withdrawal that does says that it was read', async t => {
  const { session } = await demo(t)
  const begun = await session.say('SCRIPT: text begun')
  await session.until(session => turnsEnded(session) === 1)
  const late = await session.say('SCRIPT: text late', { replaces: begun })
  await session.say('SCRIPT: text begun', { replaces: begun, steer: true })
  await session.say('SCRIPT: text begun', { replaces: begun })
  await session.tell({ t: 'withdraw', localId: begun })
  await session.until(session => texts(session).includes('late') && session.events().some(({ t }) => t === 'read'))
  t.match(
    session.events().filter(({ t }) => t === 'read' || t === 'apart'),
    [
      { t: 'apart', localId: late },
      { t: 'read', localId: begun }
    ]
  )
  await session.say('SCRIPT: text end')
  await session.until(session => texts(session).includes('end'))
  t.equal(
    texts(session).filter(text => text === 'begun').length,
    1,
    'to bring forward what was read, or to say the same instead, says nothing twice'
  )
})

t.test('images sent before a message reach the agent, and undecryptable ones delay nothing', async t => {
  const { session } = await demo(t)
  await session.attach('cat.png', onePixel, 'image/png')
  await session.attach('dog.png', onePixel)
  await session.tell({
    t: 'file',
    ref: `sessions/${session.id}/attachments/00000000-0000-0000-0000-000000000000.enc`,
    name: 'gone.png',
    size: 9
  })
  await session.tell({ t: 'file', ref: 'sessions/../../v1/account', name: 'evil.png', size: 9 })
  await session.say('SCRIPT: look')
  await session.until(session => turnsEnded(session) === 1)
  t.match(texts(session), [/2 images: image\/png, 1 × 1, \d+ bytes; image\/png/])
  const notes = session.events().flatMap(event => (event.t === 'service' ? event.text : []))
  t.match(notes.sort(), [
    /^evil\.png could not be attached .* not sent to this session\.$/,
    /^gone\.png could not be attached .* no longer has it\.$/
  ])
  await session.say('SCRIPT: look')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(texts(session).at(-1), 'There is no image.', 'they belong to one message')
})

t.test('a file that is not an image is stored for the agent, and named to it', async t => {
  const { session } = await demo(t)
  await session.attach('../notes of ann.txt', new TextEncoder().encode('from the phone'))
  await session.say('SCRIPT: tool read {"path":"none"} ;; text of')
  await session.until(session => turnsEnded(session) === 1)
  const [said = ''] = texts(session).slice(-1)
  t.match(said, /Files attached to this message:\n- \S.*notes of ann\.txt$/)
  const path = said.split('\n- ')[1] ?? ''
  await session.say(`SCRIPT: tool exec ${JSON.stringify({ command: `cat "${path}"` })}`, 'default')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: true })
  await session.until(session => turnsEnded(session) === 2)
  const ended = session.events().findLast(event => event.t === 'tool-call-end')
  t.match(ended, { content: [{ text: 'from the phone' }] })
})
