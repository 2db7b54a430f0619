import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { noteLink } from '../../../web/core/connection.ts'
import { deviceDb } from '../../../web/core/device-db.ts'
import { decisions, groups } from '../../../web/model/groups.ts'
import { home, markSeen, onMarked, pin, restoreHome, sessionOf, updateHome } from '../../../web/model/home.ts'
import { emptyHome, type SessionView } from '../../../web/model/store.ts'
import { sessionRow } from '../kit/session-row.ts'

const told: unknown[] = []

t.before(() => {
  class Channel extends EventTarget {
    postMessage(message: unknown): void {
      told.push(message)
    }
  }
  t.intercept(globalThis, 'BroadcastChannel', { value: Channel })
})

const show = (id: string, more: Partial<SessionView> = {}) =>
  updateHome({ type: 'session', session: { ...sessionRow, id, metadata: undefined, ...more } })

/** Home of a device as new; what it stores is stored at once. */
function start(t: Test) {
  const { setTimeout: wait } = globalThis
  t.intercept(globalThis, 'setTimeout', { value: (run: () => void, ms: number) => wait(run, ms === 500 ? 0 : ms) })
  updateHome({ type: 'cleared' })
  told.length = 0
}

/** What is stored once it matches. */
async function stored(isSo: (kept: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
  const db = await deviceDb()
  for (;;) {
    const kept = Object((await db.read('home')) ?? {})
    if (isSo(kept)) return kept
    await new Promise(setImmediate)
  }
}

t.test('what is known of an account is stored, and there again when the app is opened', async t => {
  start(t)
  show('s1', { seq: 9 })
  updateHome({ type: 'machine', machine: { id: 'm1', isActive: true, activeAt: 1, createdAt: 1, metadata: undefined, daemonState: null } })
  markSeen('s1', 7)
  pin(['s1'], true)
  updateHome({ type: 'confirmed', at: 5 })
  await stored(({ asOf, pinned }) => asOf === 5 && Array.isArray(pinned) && pinned.length === 1)
  updateHome({ type: 'cleared' })
  t.equal(home.value, emptyHome)
  await restoreHome()
  t.same([...home.value.sessions.keys(), ...home.value.machines.keys(), home.value.asOf], ['s1', 'm1', 5])
  t.match(home.value.sessions.get('s1'), { seq: 9, isActive: true })
  t.same([...home.value.seenSeq, ...home.value.pinned], [['s1', 7], 's1'])
})

t.test('a device that was never up to date says so after it was opened again', async t => {
  start(t)
  show('s2')
  await stored(kept => JSON.stringify(kept).includes('"s2"') && kept['asOf'] === null)
  updateHome({ type: 'cleared' })
  await restoreHome()
  t.same([[...home.value.sessions.keys()], home.value.asOf], [['s2'], undefined])
})

t.test('what another version stored is not read', async t => {
  const db = await deviceDb()
  start(t)
  for (const kept of [undefined, null, 'text', {}, { form: 1, sessions: [] }]) {
    if (kept === undefined) await db.remove('home')
    else await db.write('home', kept)
    await restoreHome()
    t.equal(home.value, emptyHome)
  }
})

t.test('nothing of an account is stored once it was left', async t => {
  const db = await deviceDb()
  await db.remove('home')
  start(t)
  show('s3')
  updateHome({ type: 'cleared' })
  for (let turns = 0; turns < 30; turns++) await new Promise(setImmediate)
  t.equal(await db.read('home'), undefined)
})

t.test('what was read here is told to other tabs, and to other devices once there is a connection', async t => {
  start(t)
  show('s1', { seq: 9 })
  const heard: unknown[] = []
  markSeen('s1', 3)
  markSeen('s1', 5)
  markSeen('s2', 1)
  t.same(told.splice(0).at(-1), { type: 'seen', id: 's2', seq: 1 })
  onMarked((id, seq) => heard.push([id, seq]))
  t.same(
    heard.splice(0),
    [
      ['s1', 5],
      ['s2', 1]
    ],
    'the latest of each session'
  )
  markSeen('s1', 6)
  t.same(heard.splice(0), [['s1', 6]])
  onMarked(undefined)
  markSeen('s1', 7)
  t.same(heard, [])
  updateHome({ type: 'cleared' })
  onMarked((id, seq) => heard.push([id, seq]))
  t.same(heard, [], 'those of another account are forgotten')
  onMarked(undefined)
})

t.test('pinned sessions are the same in all tabs', async t => {
  start(t)
  pin(['s1', 's2'], true)
  pin(['s1'], false)
  t.same([...home.value.pinned], ['s2'])
  t.same(told, [
    { type: 'pinned', ids: ['s1', 's2'], isPinned: true },
    { type: 'pinned', ids: ['s1'], isPinned: false }
  ])
})

t.test('a screen follows its session, also when that is not known yet or any more', async t => {
  start(t)
  const session = sessionOf('s1')
  t.equal(session.value, undefined)
  show('s1')
  t.equal(session.value?.id, 's1')
  const before = home.value
  updateHome({ type: 'session-removed', id: 's9' })
  t.equal(home.value.sessions, before.sessions)
  updateHome({ type: 'session-removed', id: 's1' })
  t.equal(session.value, undefined)
})

t.test('the list has what needs a person, what works and what rests, and old sessions are in the archive', async t => {
  start(t)
  noteLink({ isOnline: true })
  const now = Date.now()
  const requests = { p1: { tool: 'Bash', arguments: {}, createdAt: now } }
  show('asks', { agentState: { requests }, updatedAt: now })
  show('works', { isThinking: true, updatedAt: now })
  show('rests', { updatedAt: now })
  show('old', { isActive: false, updatedAt: now - 30 * 24 * 3600_000 })
  for (const id of ['rests', 'old']) markSeen(id, 1)
  const ids = (sessions: readonly SessionView[]) => sessions.map(({ id }) => id)
  const { working, quiet, archived } = groups.value
  t.same([ids(working), ids(quiet), ids(archived)], [['works'], ['rests'], ['old']])
  t.same(
    decisions.value.map(({ id }) => id),
    ['p1']
  )
})
