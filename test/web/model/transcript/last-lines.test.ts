import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { cryptoReady, newEnvelope, newSessionMessage, newUserText, sealDraft } from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import type { SessionEvent } from '../../../../lib/protocol/sealed/messages.ts'
import { sessionId } from '../../../../lib/protocol/wire/ids.ts'
import type { MessageRecord } from '../../../../lib/protocol/wire/records.ts'
import * as v from '../../../../lib/schema.ts'
import { home, updateHome } from '../../../../web/model/home.ts'
import { followLines } from '../../../../web/model/transcript/last-lines.ts'
import { FakeLink, turn } from '../../../client/link/fake-link.ts'
import { until } from '../../kit/device.ts'
import { sessionRow } from '../../kit/session-row.ts'

await cryptoReady()
const cipher = dataKeyCipher(engine.randomBytes(32))
const day = 24 * 3600_000

function recordOf(seq: number, body: Parameters<typeof sealDraft>[2]) {
  const { content, localId } = sealDraft(cipher, 's', body)
  return { id: `m${seq}`, seq, localId, createdAt: seq, updatedAt: seq, content: { t: 'encrypted', c: content } }
}

t.test('what was said while this device was away is fetched after each listing, of sessions that changed lately', async t => {
  const ended = newSessionMessage(newEnvelope({ t: 'turn-start' }, { role: 'agent', turn: 't' }))
  const kept = new Map([
    ['changed', [recordOf(1, newUserText('Plant it')), recordOf(2, newUserText('Water it')), recordOf(3, ended)]],
    ['idle', [recordOf(1, newUserText('Long ago'))]]
  ])
  const asked: unknown[] = []
  const call = async (_: string, { params, query }: { params: { id: string }; query: unknown }) => {
    asked.push([params.id, query])
    return { messages: kept.get(params.id) ?? [] }
  }
  const sessions = new Map([...kept.keys()].map(id => [id, { id }]))
  // Only the members that this uses.
  const deps = { rest: { call }, socket: { onUpdate: () => () => {} }, feed: { sessions, state: { type: 'live' } } } as never
  const lines = followLines(Object.assign(Object.create(null), deps, { cipherOf: () => cipher, onStored: () => () => {} }))
  t.teardown(() => lines.close())
  const session = (id: string, seq: number, updatedAt: number) => {
    const unknown = { dataEncryptionKey: null, metadata: undefined, agentState: undefined }
    updateHome({
      type: 'session',
      session: { id, seq, updatedAt, isActive: true, activeAt: 0, isThinking: false, createdAt: 0, ...unknown }
    })
  }
  const listed = (at: number) => updateHome({ type: 'listed', sessions: new Set(kept.keys()), machines: new Set(), at, isWhole: true })

  session('changed', 3, Date.now() - day)
  session('idle', 1, Date.now() - 8 * day)
  t.same(asked, [], 'before the server has sent everything')
  listed(1)
  await until(home, ({ sessions }) => sessions.get('changed')?.last !== undefined)
  t.match(home.peek().sessions.get('changed')?.last, { text: 'You: Water it', seq: 3 })
  t.same(asked, [['changed', { before_seq: 4, limit: 12 }]])

  listed(2)
  session('changed', 4, Date.now())
  kept.get('changed')?.push(recordOf(4, newUserText('Prune it')))
  t.equal(asked.length, 1, 'a line that is known is not fetched, nor one that changes while the device is here')
  listed(3)
  await until(home, ({ sessions }) => sessions.get('changed')?.last?.seq === 4)
  t.match(home.peek().sessions.get('changed')?.last, { text: 'You: Prune it' })
  t.equal(home.peek().sessions.get('idle')?.last, undefined)
})

/** A device that hears of messages as they come. */
function device(t: Test, { call = async () => ({ messages: [] as unknown[] }), ids = ['a', 'b'] }: { call?: Call; ids?: string[] } = {}) {
  updateHome({ type: 'cleared' })
  const link = new FakeLink()
  let hearStored: (records: unknown[], session: string) => void = () => {}
  const state = { isListening: true, cipher: cipher as typeof cipher | undefined }
  const deps = {
    ...{ rest: { call }, socket: link, feed: { sessions: new Map(ids.map(id => [id, { id }])), state: { type: 'live' } } },
    cipherOf: () => state.cipher,
    onStored: (listener: typeof hearStored) => {
      hearStored = listener
      return () => {
        state.isListening = false
      }
    }
  }
  const lines = followLines(deps as unknown as Parameters<typeof followLines>[0])
  t.teardown(() => lines.close())
  const row = (id: string, more: object = {}) =>
    updateHome({ type: 'session', session: { ...sessionRow, id, metadata: undefined, updatedAt: Date.now(), ...more } })
  for (const id of ids) row(id)
  let listings = 0
  return {
    ...{ link, lines, state, row },
    stored: (record: unknown, session: string) => hearStored([record], session),
    list: (listedIds = ids) =>
      updateHome({ type: 'listed', sessions: new Set(listedIds), machines: new Set(), at: ++listings, isWhole: true }),
    last: (id: string) => home.peek().sessions.get(id)?.last
  }
}

type Call = (
  name: string,
  about: { params: { id: string }; query: { before_seq: number } },
  how: { signal: AbortSignal }
) => Promise<unknown>

const agent = (ev: SessionEvent) => newSessionMessage(newEnvelope(ev, { role: 'agent', turn: 't' }))
const command: SessionEvent = { t: 'tool-call-start', call: 'c', name: 'Bash', title: 'npm test', description: '', args: {} }
const recordFor = (...about: Parameters<typeof recordOf>) => recordOf(...about) as unknown as MessageRecord

t.test('a message that comes, or was sent here, is the last line of its session, and the end of its step is noted', async t => {
  const { link, stored, last, state, lines } = device(t)
  link.message(recordFor(2, newUserText('Plant it')), 'a')
  t.same(last('a'), { seq: 2, at: 2, text: 'You: Plant it' })
  t.equal(last('b'), undefined)
  stored(recordFor(3, newUserText('Water it')), 'b')
  t.match(last('b'), { text: 'You: Water it' })
  link.message(recordFor(4, agent(command)), 'a')
  link.message(recordFor(5, agent({ t: 'tool-call-end', call: 'c', status: 'completed' })), 'a')
  t.same(last('a'), { seq: 4, at: 4, text: 'npm test', command: { call: 'c', hasRun: true } })
  link.update({ t: 'delete-session', sid: v.parse(sessionId, 'b') })
  state.cipher = undefined
  link.message(recordFor(6, newUserText('Sealed')), 'a')
  t.match(last('a'), { seq: 4 })
  state.cipher = cipher
  lines.close()
  link.message(recordFor(7, newUserText('Late')), 'a')
  t.match(last('a'), { seq: 4 })
  t.equal(state.isListening, false)
})

t.test('of what was fetched the newest readable line counts, with the ends of steps since', async t => {
  const unreadable = { ...recordFor(9, newUserText('x')), content: { t: 'encrypted', c: 'damaged' } }
  const ended = recordFor(8, agent({ t: 'tool-call-end', call: 'c', status: 'denied' }))
  const { list, last } = device(t, {
    call: async () => ({ messages: [recordFor(6, newUserText('x')), unreadable, ended, recordFor(7, agent(command))] })
  })
  list()
  await until(home, ({ sessions }) => sessions.get('b')?.last !== undefined)
  await until(home, ({ sessions }) => sessions.get('a')?.last !== undefined)
  await turn()
  t.same(last('a'), { seq: 7, at: 7, text: 'npm test' }, 'it was denied, and has not run')
})

t.test('the forty sessions that changed last are fetched, three at a time, newest first', async t => {
  const ids = Array.from({ length: 42 }, (_, index) => `s${index}`)
  const asked: string[] = []
  const answers: (() => void)[] = []
  const { row, list } = device(t, {
    ids: [...ids, 'old'],
    call: (_, { params }) => {
      asked.push(params.id)
      return new Promise(resolve => answers.push(() => resolve({ messages: [] })))
    }
  })
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  for (const [index, id] of ids.entries()) row(id, { updatedAt: now - index })
  row('old', { updatedAt: now - 7 * day })
  list([...ids, 'old'])
  await turn()
  t.same(asked, ['s0', 's1', 's2'])
  for (let answer = answers.shift(); answer; answer = answers.shift()) {
    answer()
    await turn()
  }
  t.same(asked, ids.slice(0, 40))
})

t.test('a session of seven days ago is fetched no more, nor one that is not known or has no key, nor after closing', async t => {
  const asked: string[] = []
  const signals: AbortSignal[] = []
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const { row, list, state, lines } = device(t, {
    ids: ['a', 'b'],
    call: async (_, { params }, { signal }) => {
      asked.push(params.id)
      signals.push(signal)
      throw new Error('no link')
    }
  })
  row('a', { updatedAt: now - 7 * day + 1 })
  row('b', { updatedAt: now - 7 * day })
  row('strange')
  list(['a', 'b', 'strange'])
  await turn()
  t.same(asked, ['a'])
  row('a')
  await turn()
  t.same(asked, ['a'], 'what failed waits for the next listing')
  state.cipher = undefined
  list()
  await turn()
  t.same(asked, ['a'])
  state.cipher = cipher
  lines.close()
  list()
  await turn()
  t.same([asked, signals[0]?.aborted], [['a'], true])
})
