import 'fake-indexeddb/auto'
import { effect, signal } from '@preact/signals'
import t, { type Test } from 'tap'
import { createNumbers, cryptoReady, newUserText, Refused, sealDraft } from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import type { MessageBody, PartialFrame } from '../../../../lib/protocol/sealed/messages.ts'
import { localId, sealed, sessionId } from '../../../../lib/protocol/wire/ids.ts'
import type { MessageRecord } from '../../../../lib/protocol/wire/records.ts'
import * as v from '../../../../lib/schema.ts'
import { lastingProgress } from '../../../../web/core/connection.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { openMessages } from '../../../../web/model/session/messages.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import { FakeLink, turn } from '../../../client/link/fake-link.ts'
import { until } from '../../kit/device.ts'

t.before(async () => {
  await cryptoReady()
  Object.assign(globalThis, { requestAnimationFrame: (draw: () => void) => setTimeout(draw) })
})

interface Given {
  /** How many messages the server has, and how many of them this device kept. */
  stored?: number
  kept?: readonly MessageRecord[] | unknown
  isUp?: boolean
  isLinked?: boolean
  isKnown?: boolean
  /** The last number of the session as Home knows it. */
  seq?: number
}

const cipher = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('s1') }
const strange = { ...dataKeyCipher(engine.randomBytes(32)), numbers: createNumbers('s1') }

/** A message as stored on the server, with its number as text. */
function record(seq: number, by = cipher, body: unknown = newUserText(`${seq}`)): MessageRecord {
  const { content, localId: own } = sealDraft(by, 's1', body as MessageBody)
  return {
    id: `m${seq}`,
    seq,
    localId: v.parse(localId, own),
    createdAt: seq,
    updatedAt: seq,
    content: { t: 'encrypted', c: v.parse(sealed, content) }
  }
}

const records = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => record(first + index))

interface Query {
  after_seq?: number
  before_seq?: number
  limit: number
}

/** Session `s1` on a server and on a device. */
async function open(t: Test, { stored = 0, kept, isUp = true, isLinked = true, isKnown = true, seq }: Given = {}) {
  const db = await deviceDb()
  await db.erase()
  if (kept !== undefined) await db.write('history.s1', kept)
  const own = records(stored)
  const server = { own, fails: undefined as Error | undefined, reads: [] as string[], gates: [] as Promise<void>[] }
  const link = new FakeLink()
  if (isUp) link.up()
  const rest = {
    async call(_: string, { query }: { query: Query }, { signal }: { signal?: AbortSignal } = {}) {
      const { after_seq: after, before_seq: before = 0, limit } = query
      // Without a link nobody answers.
      if (link.state.type !== 'live') await new Promise((_, reject) => signal?.addEventListener('abort', reject))
      server.reads.push(after === undefined ? `${limit} before ${before > 1e6 ? 'end' : before}` : `${limit} after ${after}`)
      await server.gates.shift()
      if (server.fails) throw server.fails
      const found =
        after === undefined ? server.own.filter(each => each.seq < before).toReversed() : server.own.filter(each => each.seq > after)
      return { messages: found.slice(0, limit), hasMore: found.length > limit }
    }
  }
  let hearStored: (messages: readonly MessageRecord[], session: string) => void = () => {}
  const live = {
    ...{ rest, socket: link, cipherOf: () => session.peek() && state.cipher },
    onStored: (listener: typeof hearStored) => {
      hearStored = listener
      return () => {
        state.isListening = false
      }
    }
  }
  const state = { cipher: cipher as typeof cipher | undefined, gaps: 0, isListening: true }
  const known = (last: number) => Object.assign(Object.create(null), { id: 's1', seq: last }) as SessionView
  const session = signal<SessionView | undefined>(isKnown ? known(seq ?? stored) : undefined)
  const linked = signal(isLinked)
  const messages = openMessages({
    id: 's1',
    // Only the members that are used.
    live: live as unknown as Parameters<typeof openMessages>[0]['live'],
    session,
    isLinked: linked,
    onGap: () => state.gaps++
  })
  t.teardown(async () => {
    messages.close()
    // What it still writes must not meet the next test.
    await (await deviceDb()).read('history.s1')
  })
  return {
    ...{ db, server, link, state, messages, linked, session },
    stored: (stored: readonly MessageRecord[], id = 's1') => hearStored(stored, id),
    learn: (last: number) => {
      session.value = known(last)
    },
    texts: () => messages.transcript.value.items.map(item => (item.type === 'mine' ? item.text : item.type)),
    is: (word: typeof messages.feed.value) => until(messages.feed, now => now === word),
    shows: (count: number) => until(messages.transcript, now => now.messages.length === count),
    may: (word: typeof messages.older.value) => until(messages.older, now => now === word)
  }
}

const span = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => `${first + index}`)

t.test('a session is live once the newest page of the server was read and decrypted', async t => {
  const { messages, server, texts, is, db } = await open(t, { stored: 130 })
  const seen: string[] = []
  t.teardown(effect(() => void seen.push(messages.feed.value)))
  await is('live')
  t.same(seen, ['opening', 'catching-up', 'live'])
  t.same(server.reads, ['100 before end'])
  t.same(texts(), span(31, 130))
  t.equal(messages.older.value, 'more')
  messages.close()
  while ((await db.read('history.s1')) === undefined) await new Promise(resolve => setImmediate(resolve))
  t.match(await db.read('history.s1'), { length: 100, 0: { seq: 31 }, 99: { seq: 130 } })
})

t.test('all messages of a short session are known, and there are none before them', async t => {
  const { messages, is } = await open(t, { stored: 3 })
  await is('live')
  t.equal(messages.older.value, 'none')
  t.match(messages.transcript.value.messages, [{ seq: 1, at: 1 }, {}, {}])
  await messages.loadOlder()
  t.equal(messages.older.value, 'none')
})

t.test('without a connection the messages kept on this device are shown, and only then those before them can be loaded', async t => {
  const { messages, texts, may, is, server } = await open(t, { kept: records(70, 3), seq: 70, isUp: false, isLinked: false })
  t.equal(messages.older.value, 'none')
  await is('stale')
  await may('more')
  t.same(texts(), span(3, 70))
  t.same(server.reads, [])
  const whole = await open(t, { kept: records(2), seq: 2, isUp: false, isLinked: false })
  await whole.shows(2)
  await whole.may('none')
})

t.test('what is kept goes on where it ended, with the last message checked', async t => {
  const kept = records(60)
  const { server, link, texts, is, shows, messages } = await open(t, { kept, seq: 62, isUp: false })
  await shows(60)
  t.equal(messages.feed.value, 'stale')
  server.own = [...kept, record(61), record(62)]
  link.up()
  await is('live')
  t.same(server.reads, ['100 after 59'])
  t.same(texts(), span(1, 62))
})

t.test('kept messages that the server has no longer, or has otherwise, are replaced by its own', async t => {
  const kept = records(3)
  const [one, two, three] = kept
  if (!one || !two || !three) throw new Error('There are three.')
  const rows: [string, MessageRecord[]][] = [
    ['sealed otherwise', [one, two, record(3), record(4)]],
    ['stored at another time', [one, two, { ...three, createdAt: 9 }, record(4)]],
    ['with a gap', [one, two, record(4)]],
    ['not at all', [one, two]]
  ]
  for (const [name, own] of rows) {
    const { server, link, is, shows, db, messages } = await open(t, { kept, seq: 3, isUp: false })
    await shows(3)
    server.own = own
    link.up()
    await is('live')
    t.same(server.reads, ['100 after 2', '100 before end'], name)
    t.same(
      messages.transcript.value.messages.map(({ seq, at }) => [seq, at]),
      own.map(({ seq, createdAt }) => [seq, createdAt]),
      name
    )
    messages.close()
    while ((await db.read('history.s1')) === undefined) await new Promise(resolve => setImmediate(resolve))
    t.match(
      await db.read('history.s1'),
      own.map(({ content }) => ({ content })),
      name
    )
  }
})

t.test('kept messages are not shown if the server was restored to before them, or is far ahead', async t => {
  const kept = records(3)
  const reads = async (seq: number, more: Given = {}) => {
    const { server } = await open(t, { kept, seq, stored: 3, ...more })
    while (server.reads.length === 0) await new Promise(resolve => setImmediate(resolve))
    return server.reads[0]
  }
  t.equal(await reads(3), '100 after 2')
  t.equal(await reads(2), '100 before end', 'restored')
  t.equal(await reads(2, { isLinked: false }), '100 after 2', 'its list may be outdated')
  t.equal(await reads(403), '100 after 2')
  t.equal(await reads(404), '100 before end', 'too much to read it all')
})

t.test('messages kept before a gap, and what is damaged, are not shown', async t => {
  const [one, , three, four] = records(4)
  const { shows, texts } = await open(t, { kept: [one, three, { seq: 'x' }, four], seq: 4, isUp: false })
  await shows(2)
  t.same(texts(), ['3', '4'])
  const damaged = await open(t, { kept: 'text', stored: 1 })
  await damaged.is('live')
  t.same(damaged.texts(), ['1'])
})

t.test('a session that is gone is deleted here too, with what was kept of it', async t => {
  const { server, link, is, db, shows } = await open(t, { kept: records(2), seq: 2, isUp: false })
  await shows(2)
  server.fails = new Refused(404, 'not-found')
  link.up()
  await is('deleted')
  while ((await db.read('history.s1')) !== undefined) await new Promise(resolve => setImmediate(resolve))
})

t.test('new messages come live, also those of this device, and not those of other sessions', async t => {
  const { link, is, shows, stored, texts, messages, server, state } = await open(t, { stored: 1 })
  await is('live')
  const [second, third] = [record(2), record(3)]
  link.message(second)
  link.message(third, 's2')
  stored([third], 's2')
  await shows(2)
  stored([third])
  await shows(3)
  t.same(texts(), ['1', '2', '3'])
  messages.close()
  t.equal(state.isListening, false)
  link.down()
  link.up()
  await turn()
  t.equal(server.reads.length, 1, 'closed')
})

t.test('what was missed is shown together once it is complete, with its progress until then', async t => {
  const { setTimeout: later } = globalThis
  // How long a problem may last before it is shown passes at once.
  t.intercept(globalThis, 'setTimeout', { value: (run: () => void, ms: number) => later(run, ms === 2_000 ? 0 : ms) })
  const { server, link, messages, is, linked, learn, texts } = await open(t, { stored: 1 })
  await is('live')
  link.down()
  linked.value = false
  await is('stale')
  server.own = [...server.own, ...records(205, 2)]
  learn(205)
  const gates = [1, 2, 3].map(() => Promise.withResolvers<void>())
  server.gates = gates.map(({ promise }) => promise)
  link.up()
  linked.value = true
  await is('catching-up')
  const counts = new Set<number>()
  t.teardown(effect(() => void counts.add(messages.transcript.value.messages.length)))
  for (const [index, done] of [0, 100, 200].entries()) {
    await until(lastingProgress, now => now?.done === done)
    t.same(lastingProgress.value, { done, all: 204 })
    gates[index]?.resolve()
  }
  await is('live')
  t.same([...counts], [1, 205])
  t.same(texts(), span(1, 205))
  t.same(server.reads.slice(1), ['100 after 1', '100 after 101', '100 after 201'])
  t.equal(lastingProgress.value, undefined)
})

t.test('older messages are loaded by page, and the last of them says so', async t => {
  const { messages, server, texts, is } = await open(t, { stored: 250 })
  await is('live')
  const loading = messages.loadOlder()
  t.equal(messages.older.value, 'loading')
  await messages.loadOlder()
  await loading
  t.same(server.reads.slice(1), ['100 before 151'], 'once')
  t.same([texts().length, messages.older.value], [200, 'more'])
  server.fails = new Refused(500, 'x')
  await messages.loadOlder()
  t.same([texts().length, messages.older.value], [200, 'failed'])
  server.fails = undefined
  await messages.loadOlder()
  t.same([texts(), messages.older.value], [span(1, 250), 'none'])
  await messages.loadOlder()
  t.equal(server.reads.length, 4)
})

t.test('everything down to an old message is loaded at once, with a page before it', async t => {
  const { messages, server, texts, is } = await open(t, { stored: 1000 })
  await is('live')
  await messages.loadOlder(850)
  t.same([server.reads.at(-1), texts()[0], messages.older.value], ['151 before 901', '750', 'more'])
  await messages.loadOlder(120)
  t.same(server.reads.slice(2), ['500 before 750', '230 before 250'])
  t.same([texts()[0], texts().length, messages.older.value], ['20', 981, 'more'])
  await messages.loadOlder(5)
  t.same([server.reads.at(-1), texts()[0], messages.older.value], ['115 before 20', '1', 'none'])
})

t.test('messages wait until the session and its key are known, and those of another key are counted', async t => {
  const { messages, learn, link, is, shows, state, texts } = await open(t, { stored: 1, isKnown: false })
  await new Promise(resolve => setTimeout(resolve, 5))
  t.same([messages.feed.value, texts()], ['opening', []])
  learn(1)
  await is('live')
  t.same(texts(), ['1'])
  link.message(record(2, strange))
  await shows(2)
  state.cipher = undefined
  link.message(record(3))
  await shows(3)
  state.cipher = cipher
  link.message(record(4, cipher, { role: 'of tomorrow' }))
  await shows(4)
  t.match(messages.transcript.value.messages.slice(1), [
    { seq: 2, localId: String, at: 2, body: undefined, closed: 'unreadable' },
    { seq: 3, localId: String, at: 3, body: undefined, closed: 'unreadable' },
    { seq: 4, localId: String, at: 4, body: undefined, closed: 'unknown-shape', by: { sender: String, number: Number } }
  ])
})

t.test('growing text is shown until it is stored, and what was missed of it is asked for', async t => {
  const { link, messages, is, state, shows } = await open(t, { stored: 1 })
  await is('live')
  const said = (frame: PartialFrame, id = 's1', by = cipher) =>
    link.ephemeral({ type: 'partial', sid: v.parse(sessionId, id), partial: v.parse(sealed, by.seal(frame)) })
  const grown = () => until(messages.transcript, now => now.partials.length > 0).then(now => now.partials.map(({ text }) => text))
  const whole = { turn: 't1', block: 'b1', text: 'I', thinking: false, n: 1 }
  said(whole, 's2')
  said({ ...whole, text: 'strange' }, 's1', strange)
  said(whole)
  said({ block: 'b1', n: 2, added: ' look' })
  t.same(await grown(), ['I look'], 'once per frame')
  t.type(messages.transcript.value.partials[0]?.at, 'number')
  t.equal(state.gaps, 0)
  said({ block: 'b1', n: 4, added: 'x' })
  t.equal(state.gaps, 1)
  link.message(record(2))
  said({ turn: 't1', block: 'b2', text: 'Then', thinking: false, n: 5 })
  await shows(2)
  await until(messages.transcript, now => now.partials.length === 2)
  state.cipher = undefined
  said({ turn: 't1', block: 'b3', text: 'Sealed', thinking: false, n: 6 })
  messages.close()
  state.cipher = cipher
  said({ turn: 't1', block: 'b3', text: 'Closed', thinking: false, n: 7 })
  await new Promise(resolve => setTimeout(resolve, 5))
  t.equal(messages.transcript.value.partials.length, 2)
})
