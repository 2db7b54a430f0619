import t from 'tap'
import { watchSession } from '../../../lib/client/feed/session-watch.ts'
import { cryptoReady } from '../../../lib/client/index.ts'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import type { Rest } from '../../../lib/client/link/rest.ts'
import type { SessionRecord } from '../../../lib/protocol/wire/records.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { FakeLink, turn } from '../link/fake-link.ts'
import { startWorld } from '../world.ts'

t.before(() => cryptoReady())

/** The next row that is told. */
function rowsOf() {
  let waiting = Promise.withResolvers<{ row: SessionRecord; isBack: boolean }>()
  return {
    onRow(row: SessionRecord, { isBack }: { isBack: boolean }) {
      waiting.resolve({ row, isBack })
    },
    async next() {
      const told = await waiting.promise
      waiting = Promise.withResolvers()
      return told
    }
  }
}

t.test('after a disconnect, a wrapper with nothing to send gets what was written meanwhile [S1]', async t => {
  const world = await startWorld(t)
  const { session } = await world.openSession()
  const wrapper = await world.client({ as: 'session', id: session.id })
  const app = await world.client()
  const rows = rowsOf()
  const removed = Promise.withResolvers<void>()
  const watch = watchSession({ ...wrapper, session: session.id, onRow: rows.onRow, onRemoved: removed.resolve })
  t.teardown(() => watch.close())
  t.match(await rows.next(), { row: { metadataVersion: 0 }, isBack: false })

  await wrapper.line.closePort()
  await app.socket.request('update-metadata', { sid: session.id, metadata: 'bmV3', expectedVersion: 0 })
  await world.openSession()
  await wrapper.line.openPort()
  wrapper.socket.reconnectNow()
  t.match(await rows.next(), { row: { id: session.id, metadata: 'bmV3', metadataVersion: 1 }, isBack: false })

  await wrapper.line.closePort()
  await world.rest.call('removeSession', { params: { id: session.id } })
  await wrapper.line.openPort()
  wrapper.socket.reconnectNow()
  await removed.promise
})

t.test('on a Happy server the session is looked up in the list at each connect', async t => {
  const link = new FakeLink()
  const rows = rowsOf()
  let metadataVersion = 1
  const call = async (name: string) => {
    if (name !== 'listSessions') throw new Refused(404, 'Not found')
    return { sessions: [{ id: 'other' }, { id: 's1', metadataVersion }] }
  }
  const rest = { call: call as unknown as Rest['call'] }
  const watch = watchSession({ rest, socket: link, session: 's1', onRow: rows.onRow, onRemoved: () => t.fail() })
  t.teardown(() => watch.close())
  await turn()
  link.up()
  t.match(await rows.next(), { row: { metadataVersion: 1 }, isBack: false })
  link.down()
  metadataVersion = 2
  link.up()
  t.match(await rows.next(), { row: { metadataVersion: 2 }, isBack: false })
})

t.test('a restored server is reported, so that older versions and numbers are accepted [O6]', async t => {
  const link = new FakeLink()
  const rows = rowsOf()
  let epoch = 'one life'
  const call = async (name: string, { query }: { query: { since: number; epoch?: string } }) => {
    if (name === 'listSessions') return { sessions: [{ id: 's1', metadataVersion: epoch === 'one life' ? 7 : 3 }] }
    const isContinued = query.since === 0 || query.epoch === epoch
    return isContinued
      ? { complete: true, epoch, clock: 5, began: 5, more: false, removed: [], sessions: [] }
      : { complete: false, epoch, clock: 5 }
  }
  const rest = { call: call as unknown as Rest['call'] }
  const watch = watchSession({ rest, socket: link, session: 's1', onRow: rows.onRow, onRemoved: () => t.fail() })
  t.teardown(() => watch.close())
  link.up()
  t.match(await rows.next(), { row: { metadataVersion: 7 }, isBack: false })
  epoch = 'another life'
  link.down()
  link.up()
  t.match(await rows.next(), { row: { metadataVersion: 3 }, isBack: true })
})

t.test('an invalid token ends the watch', async t => {
  const link = new FakeLink()
  const refusal = Promise.withResolvers<Refused>()
  const rest = { call: (async () => Promise.reject(new Refused(401, 'Invalid token'))) as unknown as Rest['call'] }
  const watch = watchSession({ rest, socket: link, session: 's1', onRow() {}, onRemoved() {}, onRefused: refusal.resolve })
  t.teardown(() => watch.close())
  link.up()
  t.match(await refusal.promise, { status: 401 })
})

t.test('what could not be read is read again a moment later, and not after the close', async t => {
  const link = new FakeLink()
  const clock = manualClock()
  let asked = 0
  const call = async () => {
    asked++
    throw new Unreachable('network')
  }
  const rest = { call: call as unknown as Rest['call'] }
  const watch = watchSession({ rest, socket: link, session: 's1', onRow() {}, onRemoved() {}, clock, random: () => 1 })
  link.up()
  await turn()
  clock.advance(500)
  await turn()
  t.equal(asked, 2)
  watch.close()
  await turn()
  clock.advance(60_000)
  await turn()
  t.equal(asked, 2)
})

t.test('each connect reads once, a connect meanwhile once more, and none after the close', async t => {
  const link = new FakeLink()
  const asked: string[] = []
  let arrived = Promise.resolve()
  const call = async (name: string, _: unknown, { signal }: { signal: AbortSignal }) => {
    asked.push(name)
    t.ok(signal instanceof AbortSignal, `${name} can be broken off`)
    await Promise.race([arrived, new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))])
    if (name === 'listSessions') return { sessions: [] }
    return { complete: true, epoch: 'e', clock: 5, began: 5, more: false, removed: [{ of: 'session', id: 'other' }], sessions: [] }
  }
  const onRemoved = () => t.fail('another session was removed')
  const rest = { call: call as unknown as Rest['call'] }
  const watch = watchSession({ rest, socket: link, session: 's1', onRow: () => t.fail('it was not listed'), onRemoved })
  const asksAfter = async (change: () => void) => {
    asked.length = 0
    change()
    await turn()
    return [...asked]
  }
  t.strictSame(await asksAfter(() => {}), [], 'not before there is a link')
  t.strictSame(await asksAfter(() => link.up()), ['readChanges', 'listSessions'])
  t.strictSame(await asksAfter(() => link.down()), [])
  const { promise, resolve } = Promise.withResolvers<void>()
  arrived = promise
  t.strictSame(await asksAfter(() => link.up()), ['readChanges'])
  t.strictSame(await asksAfter(() => link.up()), ['readChanges'], 'over the new connection')
  t.strictSame(await asksAfter(resolve), ['readChanges'], 'it may have missed something since')
  watch.close()
  t.strictSame(await asksAfter(() => link.up()), [])
})
