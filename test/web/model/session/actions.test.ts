import 'fake-indexeddb/auto'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { cryptoReady, Refused, Unreachable } from '../../../../lib/client/index.ts'
import { sessionMetadata } from '../../../../lib/protocol/sealed/session.ts'
import * as v from '../../../../lib/schema.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import { closedDecisions, forgetClosed, noteClosed } from '../../../../web/model/decisions/closed-decisions.ts'
import type { Waiting } from '../../../../web/model/decisions/waiting.ts'
import { home, pin, updateHome } from '../../../../web/model/home.ts'
import { archive, askToStop, deleteEach, endEach, unarchive, unarchiveOnMessage } from '../../../../web/model/session/actions.ts'
import { shownToast } from '../../../../web/ui/toast.ts'
import { offeredUndo, undo } from '../../../../web/ui/undo.ts'
import { machine } from '../../kit/machine.ts'
import { otherTabs } from '../../kit/other-tabs.ts'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

const { told } = otherTabs()

t.before(() => cryptoReady())

const now = 1_700_000_000_000
const notDone = 'That did not work. Nothing was changed.'

/** A device that knows these sessions, all on machine `m1`; its clock stands. */
function device(t: Test, ids: readonly string[], { running = [] as readonly string[], results = {} as Record<string, unknown> } = {}) {
  const { window } = pageGlobals(t)
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now })
  t.teardown(() => {
    window.dispatchEvent(new Event('pagehide'))
    mock.timers.tick(60_000)
    mock.timers.reset()
    updateHome({ type: 'cleared' })
  })
  const { link, asked } = machine<Pick<Live, 'socket' | 'cipherOfMachine'>>(results)
  const cipher = link.cipherOfMachine('m1')
  if (!cipher) throw new Error('It has a key.')
  const about = v.parse(sessionMetadata, { path: '/a', host: 'h', machineId: 'm1' })
  const refused = new Set<string>()
  const closed = new Set<string>()
  const removed: unknown[] = []
  const sessions = new Map(ids.map(id => [id, { id, metadata: cipher.seal(about), metadataVersion: 3 }]))
  const show = (id: string, metadata = about) =>
    updateHome({ type: 'session', session: { ...sessionRow, id, isActive: running.includes(id), metadata } })
  for (const id of ids) show(id)
  const live = {
    cipherOf: (id: string) => (closed.has(id) ? undefined : cipher),
    cipherOfMachine: link.cipherOfMachine,
    socket: {
      onState: () => () => {},
      async request(event: string, body: { sid: string; method: string; params: string; metadata: string; expectedVersion: number }) {
        if (event === 'rpc-call') return link.socket.request('rpc-call', body)
        if (refused.has(body.sid)) return { result: 'error', status: 403, message: 'no' }
        return { result: 'success', version: body.expectedVersion + 1 }
      }
    },
    feed: {
      sessions,
      take({ session }: { session: { id: string; metadata: string; metadataVersion: number } }) {
        sessions.set(session.id, session)
        const opened = cipher.open(session.metadata)
        show(session.id, v.parse(sessionMetadata, opened.ok && opened.value))
      }
    },
    rest: {
      async call(route: string, { params }: { params: { id: string } }) {
        if (refused.has(params.id)) throw new Refused(500, 'internal')
        removed.push([route, params.id])
      }
    }
  } as unknown as Live
  const daemon = (isActive: boolean) =>
    updateHome({
      type: 'machine',
      machine: { id: 'm1', isActive, activeAt: 1, createdAt: 1, metadata: undefined, daemonState: { status: 'running' } }
    })
  return {
    ...{ live, asked, refused, closed, removed, daemon, window },
    stored: (id: string) => home.value.sessions.get(id)?.metadata,
    /** The time to undo is over. */
    async settle() {
      mock.timers.tick(8_000)
      await new Promise(setImmediate)
    }
  }
}

t.test('archived sessions are marked with the time, and can be taken back for a moment', async t => {
  const { live, stored, asked, settle } = device(t, ['s1', 's2', 's3'])
  await archive(live, ['s1', 's2'])
  t.same(
    ['s1', 's2', 's3'].map(id => stored(id)?.archivedAt),
    [now, now, undefined]
  )
  t.equal(offeredUndo.value?.text, '2 sessions archived')
  t.equal(shownToast.value, undefined)
  mock.timers.tick(2_000)
  undo()
  t.equal(offeredUndo.value, undefined)
  await new Promise(setImmediate)
  t.match(
    ['s1', 's2', 's3'].map(id => stored(id)),
    [{ archivedAt: null, restoredAt: now + 2_000 }, { archivedAt: null, restoredAt: now + 2_000 }, { archivedAt: undefined }]
  )
  await settle()
  t.same(asked, [])
})

t.test('the agents of archived sessions end once that cannot be undone any more, unless they are back by then', async t => {
  const { live, asked, settle } = device(t, ['s1', 's2', 's3'], {
    running: ['s1', 's2'],
    results: { killSession: { success: true, message: '' } }
  })
  await archive(live, ['s1', 's2', 's3'])
  t.equal(offeredUndo.value?.text, '3 sessions archived. Their agents will end shortly.')
  mock.timers.tick(7_999)
  t.same([asked, offeredUndo.value !== undefined], [[], true])
  await unarchive(live, ['s2'])
  await settle()
  t.same(asked, [['s1:killSession', {}]])
  t.equal(offeredUndo.value, undefined)
})

t.test('the agent of an archived session goes on if that was undone', async t => {
  const { live, asked, settle } = device(t, ['s1'], { running: ['s1'], results: { killSession: { success: true, message: '' } } })
  await archive(live, ['s1'])
  t.equal(offeredUndo.value?.text, 'Archived. Its agent will end shortly.')
  undo()
  await settle()
  t.same(asked, [])
})

t.test('the next archived session, or leaving the app, ends the time to undo the one before', async t => {
  const { live, asked, window } = device(t, ['s1', 's2'], {
    running: ['s1', 's2'],
    results: { killSession: { success: true, message: '' } }
  })
  await archive(live, ['s1'])
  await archive(live, ['s2'])
  await new Promise(setImmediate)
  t.same(asked, [['s1:killSession', {}]])
  mock.timers.tick(7_999)
  t.ok(offeredUndo.value, 'each has its own time')
  window.dispatchEvent(new Event('pagehide'))
  await new Promise(setImmediate)
  t.same(asked, [
    ['s1:killSession', {}],
    ['s2:killSession', {}]
  ])
})

t.test('what could not be archived is said, and only the others can be undone', async t => {
  const { live, refused, closed, stored } = device(t, ['s1', 's2', 's3', 's4'])
  refused.add('s1')
  await archive(live, ['s1'])
  t.same([shownToast.value, offeredUndo.value], [notDone, undefined])
  await archive(live, ['s1', 's2'])
  t.same([shownToast.value, offeredUndo.value?.text], ['One session could not be changed.', 'Archived'])
  closed.add('s3')
  await archive(live, ['s1', 's3', 's4', 's9'])
  t.equal(shownToast.value, '3 sessions could not be changed.')
  t.same(
    ['s1', 's2', 's3', 's4'].map(id => stored(id)?.archivedAt),
    [undefined, now, undefined, now]
  )
  mock.timers.tick(4_000)
  t.equal(shownToast.value, undefined)
})

t.test('a message is shown for its whole time, also if another was shown before', async t => {
  const { live, refused } = device(t, ['s1'])
  refused.add('s1')
  await archive(live, ['s1'])
  mock.timers.tick(3_999)
  t.equal(shownToast.value, notDone)
  await unarchive(live, ['s1'])
  mock.timers.tick(3_999)
  t.equal(shownToast.value, notDone)
  mock.timers.tick(1)
  t.equal(shownToast.value, undefined)
})

t.test('without a connection nothing is archived, unarchived or stopped, and that is said', async t => {
  device(t, ['s1'])
  for (const act of [() => archive(undefined, ['s1']), () => unarchive(undefined, ['s1']), () => askToStop(undefined, 's1')]) {
    await act()
    t.equal(shownToast.value, notDone)
    t.equal(offeredUndo.value, undefined)
    mock.timers.tick(4_000)
  }
})

t.test('a message brings its session back from the archive, and changes no other', async t => {
  const { live, stored } = device(t, ['s1', 's2'])
  await archive(live, ['s1'])
  await unarchiveOnMessage(live, 's2')
  t.equal(stored('s2')?.restoredAt, undefined)
  t.equal(stored('s1')?.archivedAt, now)
  await unarchiveOnMessage(live, 's1')
  t.match(stored('s1'), { archivedAt: null, restoredAt: now })
})

t.test('an agent is asked to stop its turn, and it is said if it was not reached', async t => {
  const results: Record<string, unknown> = { abort: null }
  const { live, asked, closed } = device(t, ['s1'], { results })
  await askToStop(live, 's1')
  t.same([asked, shownToast.value], [[['s1:abort', {}]], undefined])
  results['abort'] = new Unreachable('network')
  await askToStop(live, 's1')
  t.equal(shownToast.value, notDone)
  mock.timers.tick(4_000)
  closed.add('s1')
  await askToStop(live, 's1')
  t.equal(shownToast.value, notDone)
})

t.test('an agent that cannot end itself is ended by its machine', async t => {
  const results: Record<string, unknown> = { killSession: { success: false, message: 'no' }, 'stop-session': { message: 'done' } }
  const { live, asked, daemon, closed } = device(t, ['s1', 's2'], { running: ['s1'], results })
  t.equal(await endEach(live, ['s1']), 0, 'its machine is not known')
  daemon(false)
  t.equal(await endEach(live, ['s1']), 0, 'its daemon is away')
  t.same(asked.splice(0), [
    ['s1:killSession', {}],
    ['s1:killSession', {}]
  ])
  daemon(true)
  t.equal(await endEach(live, ['s1', 's2']), 2)
  t.same(
    asked.filter(each => JSON.stringify(each).includes('stop-session')),
    [
      ['m1:stop-session', { sessionId: 's1' }],
      ['m1:stop-session', { sessionId: 's2' }]
    ]
  )
  asked.length = 0
  results['killSession'] = new Unreachable('network')
  t.equal(await endEach(live, ['s1']), 1)
  t.same(asked, [['m1:stop-session', { sessionId: 's1' }]])
  results['killSession'] = { success: true, message: '' }
  closed.add('s2')
  asked.length = 0
  t.equal(await endEach(live, ['s1', 's2']), 1, 'one cannot be asked without its key')
  t.same(asked, [['s1:killSession', {}]])
})

t.test('a decision that closes because its agent was ended here says so, and not if that failed', async t => {
  const results: Record<string, unknown> = { killSession: { success: true, message: '' } }
  const { live } = device(t, ['s1'], { results })
  const asked = { id: 'r1' } as unknown as Waiting
  const since = async () => {
    await endEach(live, ['s1'])
    noteClosed({ session: 's1', asked, at: now, beside: [] })
    const [gone] = closedDecisions.value
    forgetClosed('s1')
    return gone?.since
  }
  t.same(await since(), ['ended-here'])
  results['killSession'] = { success: false, message: 'no' }
  t.equal(await since(), undefined)
})

t.test('a deleted session ends first, and is gone here with its pin', async t => {
  const { live, asked, removed } = device(t, ['s1', 's2', 's3'], {
    running: ['s1'],
    results: { killSession: { success: true, message: '' } }
  })
  pin(['s1', 's3'], true)
  told.length = 0
  t.equal(await deleteEach(live, ['s1', 's2']), 2)
  t.match(told[0], { type: 'pinned', ids: ['s1'], isPinned: false })
  t.same(asked, [['s1:killSession', {}]])
  t.same(removed, [
    ['removeSession', 's1'],
    ['removeSession', 's2']
  ])
  t.same([[...home.value.sessions.keys()], [...home.value.pinned]], [['s3'], ['s3']])
})

t.test('sessions that the server does not delete stay, also if their agent ended or did not', async t => {
  const { live, refused, removed } = device(t, ['s1', 's2'], { running: ['s2'], results: { killSession: new Unreachable('network') } })
  refused.add('s1')
  t.equal(await deleteEach(live, ['s1', 's2']), 1)
  t.same(removed, [['removeSession', 's2']])
  t.same([...home.value.sessions.keys()], ['s1'])
})
