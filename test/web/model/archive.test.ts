import t from 'tap'
import { byMonth, isArchived } from '../../../web/model/archive.ts'
import { byFolder, groupSessions } from '../../../web/model/sessions.ts'
import { emptyHome, type Home, reduce, type SessionView } from '../../../web/model/store.ts'

const dayMs = 24 * 3600_000
const now = new Date(2026, 4, 20).getTime()
const week = { quietDays: 7, now } as const

function view(id: string, more: Partial<SessionView> = {}): SessionView {
  return {
    id,
    seq: 1,
    isActive: false,
    activeAt: now,
    isThinking: false,
    createdAt: now - 90 * dayMs,
    updatedAt: now - 8 * dayMs,
    dataEncryptionKey: null,
    metadata: { path: '/code/orchard', host: 'studio' },
    agentState: null,
    last: undefined,
    ...more
  }
}

function homeOf(sessions: readonly SessionView[], more: Partial<Home> = {}): Home {
  const seenSeq = new Map(sessions.map(({ id, seq }) => [id, seq]))
  return { ...emptyHome, sessions: new Map(sessions.map(session => [session.id, session])), seenSeq, ...more }
}

const isAway = (session: SessionView, more: Partial<Home> = {}, rule: Parameters<typeof isArchived>[2] = week) =>
  isArchived(session, homeOf([session], more), rule)

t.test('a session is archived automatically after quiet days, and never if its owner wants that', async t => {
  t.equal(isAway(view('a')), true)
  t.equal(isAway(view('a', { updatedAt: now - 6 * dayMs })), false)
  t.equal(isAway(view('a'), {}, { quietDays: 30, now }), false)
  t.equal(isAway(view('a'), {}, { quietDays: 'never', now }), false)
})

t.test('none is archived automatically while unread, failed, pinned, working or waiting for someone', async t => {
  t.equal(isAway(view('a'), { seenSeq: new Map() }), false, 'unread')
  t.equal(isAway(view('a', { last: { seq: 1, at: now - 8 * dayMs, text: '', end: 'failed' } })), false, 'failed')
  t.equal(isAway(view('a'), { pinned: new Set(['a']) }), false, 'pinned')
  t.equal(isAway(view('a', { isActive: true, isThinking: true })), false, 'at work')
  const requests = { one: { tool: 'Bash', arguments: {}, createdAt: 1 } }
  const metadata = { path: '/code/orchard', host: 'studio', archivedAt: now }
  t.equal(isAway(view('a', { isActive: true, metadata, agentState: { requests } })), false, 'waits for somebody, though put away')
})

t.test('a session archived by a person stays there until a new message in it', async t => {
  const metadata = { path: '/code/orchard', host: 'studio', archivedAt: now - dayMs }
  const said = (at: number) => view('a', { metadata, updatedAt: now, last: { seq: 1, at, text: 'Done' } })
  t.equal(isAway(said(now - 2 * dayMs)), true)
  t.equal(isAway(said(now - dayMs + 10_000)), true, 'the last words of an agent that ended for it')
  t.equal(isAway(said(now - 3600_000)), false)
  t.equal(isAway(view('a', { metadata: { ...metadata, archivedAt: null, restoredAt: now - dayMs } })), false, 'taken out again')
})

t.test('pinned sessions come first, also when grouped by folder', async t => {
  const [one, two, three] = [1, 2, 3].map(days => view(`s${days}`, { updatedAt: now - days * dayMs }))
  if (!one || !two || !three) return
  const other = { ...three, metadata: { path: '/code/meadow', host: 'studio' } }
  const home = reduce(homeOf([one, two, other]), { type: 'pinned', ids: ['s3'], isPinned: true })
  const { quiet } = groupSessions(home)
  t.same(
    quiet.map(({ id }) => id),
    ['s3', 's1', 's2']
  )
  t.same(
    byFolder(quiet).map(({ folder, sessions }) => [folder, sessions.length]),
    [
      ['meadow', 1],
      ['orchard', 2]
    ]
  )
  t.equal(reduce(home, { type: 'pinned', ids: ['s3'], isPinned: false }).pinned.size, 0)
})

t.test('the archive is grouped by month, latest first', async t => {
  const at = (month: number) => view(`m${month}`, { updatedAt: new Date(2026, month, 3).getTime(), createdAt: 0 })
  t.same(
    byMonth([at(1), at(3), at(1)]).map(({ month, sessions }) => [month, sessions.length]),
    [
      ['2026-4', 1],
      ['2026-2', 2]
    ]
  )
})
