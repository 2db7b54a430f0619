import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Fetch } from '../../../lib/client/link/rest.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { findLeftovers, listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { recoverSessions, recoverUntilDone, writeToEndedSession } from '../../../lib/wrapper/session/recovery.ts'
import { fetch } from '../../../lib/wrapper/uplink/network.ts'
import { openUplink } from '../../../lib/wrapper/uplink/uplink.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { computerWithSession, leaveBehind } from '../kit/left-behind.ts'
import type { PhoneSession } from '../kit/phone.ts'
import { runWrapper } from '../kit/wrapper.ts'

const down: Fetch = async () => {
  throw new Error('no network')
}
const soon = 50
const long = 60_000

t.test('messages not delivered in time are delivered at the next attempt, once', async t => {
  const { home, phone, folder } = await computerWithSession(t)
  await leaveBehind(home, folder, 'kept')
  const own = openHome({ AFIELD_HOME: home })
  t.strictSame(await recoverSessions({ home: own, fetch: down, withinMs: soon }), { found: 1, delivered: 0 })
  t.equal(findLeftovers(home).length, 1)
  t.match(listSessions(home), [{ notes: { endedBy: 'itself' } }], 'which is told once, not at each attempt')
  t.strictSame(await recoverSessions({ home: own, fetch: down, withinMs: soon }), { found: 1, delivered: 0 })
  t.strictSame(await recoverSessions({ home: own, fetch, withinMs: long }), { found: 1, delivered: 1 })
  t.match(listSessions(home), [{ pid: undefined, notes: { turn: null } }])
  const session = await phone.session()
  await session.until(session => said(session).length > 0)
  t.strictSame(said(session), ['kept'])
})

t.test('what a killed wrapper had asked is open on the phone no longer', async t => {
  const { home, phone, folder } = await computerWithSession(t)
  const own = openHome({ AFIELD_HOME: home })
  const credentials = own.credentials(folder.notes.server)
  if (!credentials) throw new Error('the computer is not linked')
  const uplink = await openUplink({ home: own, credentials, folder, fetch })
  const question = { kind: 'form', createdAt: 1, title: 'Which?' }
  uplink.changeState(state => ({
    ...state,
    requests: { p: { tool: 'Bash', arguments: {}, createdAt: 1 } },
    communications: { q: question }
  }))
  const session = await phone.session()
  await session.until(({ state }) => state.requests?.['p'] !== undefined)
  await uplink.close()
  await leaveBehind(home, folder, 'kept')
  t.strictSame(await recoverSessions({ home: own, fetch, withinMs: long }), { found: 1, delivered: 1 })
  await session.until(session => said(session).length > 0)
  t.match(session.state, {
    requests: {},
    communications: {},
    completedRequests: { p: { status: 'canceled' } },
    completedCommunications: { q: { status: 'cancelled' } }
  })
})

t.test('an unreadable one does not block others, and stays', async t => {
  const { home, folder, another } = await computerWithSession(t)
  folder.note({ sentUpTo: { file: home, offset: 0 } })
  await leaveBehind(home, folder, 'of one whose transcript is a folder')
  await leaveBehind(home, another(), 'of another')
  const own = openHome({ AFIELD_HOME: home })
  const said: string[] = []
  const result = await recoverSessions({ home: own, fetch, withinMs: long, onTrouble: sentence => said.push(sentence) })
  t.strictSame(result, { found: 2, delivered: 1 })
  t.match(said, [/could not be delivered: EISDIR/])
  t.equal(findLeftovers(home).length, 1)
})

t.test('an unreadable one is reported once and retried rarely, until it works', async t => {
  const { home, folder, another } = await computerWithSession(t)
  const transcript = join(home, '..', 'transcript')
  mkdirSync(transcript)
  folder.note({ sentUpTo: { file: transcript, offset: 0 } })
  await leaveBehind(home, folder, 'of one whose transcript is a folder')
  const clock = manualClock()
  const told: string[] = []
  const end = new AbortController()
  const isOver = recoverUntilDone({
    home: openHome({ AFIELD_HOME: home }),
    fetch,
    signal: end.signal,
    onTrouble: sentence => told.push(sentence),
    clock
  })
  t.teardown(() => end.abort())
  const rests = () => until(() => clock.pending === 1)
  await rests()
  t.match(told, [/could not be delivered: EISDIR/])
  clock.advance(60_000)
  t.equal(clock.pending, 1, 'it is left alone for longer than what only has no link')
  clock.advance(4 * 60_000)
  await rests()
  t.equal(told.length, 1)
  await leaveBehind(home, another(), 'of another')
  clock.advance(5 * 60_000)
  await until(() => clock.pending === 1 && findLeftovers(home).length === 1)
  t.equal(told.length, 1, 'and holds no other up')
  rmSync(transcript, { recursive: true })
  writeFileSync(transcript, '')
  clock.advance(5 * 60_000)
  await isOver
  t.strictSame(findLeftovers(home), [])
  t.equal(told.length, 1)
})

t.test('a session being delivered runs in no process, and is free for whoever resumes it', async t => {
  const { home, phone, folder } = await computerWithSession(t)
  await leaveBehind(home, folder, 'kept')
  const delivering = recoverSessions({ home: openHome({ AFIELD_HOME: home }), fetch: down, withinMs: long })
  await until(() => listSessions(home)[0]?.deliverer === process.pid)
  t.match(listSessions(home), [{ pid: undefined }])

  const resumed = runWrapper(t, { home, args: ['resume', 'demo'] })
  await resumed.says(/live/)
  t.strictSame(await delivering, { found: 1, delivered: 0 })
  t.match(listSessions(home), [{ pid: resumed.child.pid, deliverer: undefined }])
  const session = await phone.session()
  await session.until(session => said(session).length > 0)
  await resumed.kill('SIGTERM')
  t.strictSame(said(session), ['kept'])
  t.match(resumed.output, /Everything was delivered/)
})

t.test('a manual delivery gets what another process cannot deliver', async t => {
  const { home, folder } = await computerWithSession(t)
  await leaveBehind(home, folder, 'kept')
  const delivering = recoverSessions({ home: openHome({ AFIELD_HOME: home }), fetch: down, withinMs: long })
  await until(() => listSessions(home)[0]?.deliverer === process.pid)
  const flush = runWrapper(t, { home, args: ['flush'] })
  t.equal(await flush.ended, 0)
  t.match(flush.output, /Delivered 1 of 1/)
  t.strictSame(await delivering, { found: 1, delivered: 0 })
})

t.test('messages written to an ended session offline are delivered later, and the session is unchanged', async t => {
  const { home, phone, folder } = await computerWithSession(t)
  folder.note({ turn: null, endedBy: 'person', heardUpTo: 4 })
  folder.retire()
  const [known] = listSessions(home)
  if (!known) throw new Error('there is no session')
  const own = openHome({ AFIELD_HOME: home })
  await writeToEndedSession(known, 'It did not start.', { home: own, fetch: down, withinMs: soon })
  t.match(listSessions(home), [{ pid: undefined, notes: { isStarting: undefined, endedBy: 'person', heardUpTo: 4 } }])
  t.strictSame(await recoverSessions({ home: own, fetch, withinMs: long }), { found: 1, delivered: 1 })
  const session = await phone.session()
  await session.until(session => session.events().some(event => event.t === 'service' && event.text === 'It did not start.'))
  t.match(listSessions(home), [{ notes: { isStarting: undefined, endedBy: 'person', heardUpTo: 4 } }])
})

t.test('a message that the server always rejects is set aside and reported once, and its neighbours arrive [W5]', async t => {
  const { home, phone, folder } = await computerWithSession(t)
  await leaveBehind(home, folder, 'one', 'poison', 'two')
  const picky: Fetch = async (url, init) =>
    init.body?.includes('"poison"') === true && url.endsWith('/messages')
      ? { status: 413, headers: new Headers(), text: async () => '{"error":"Payload Too Large"}' }
      : fetch(url, init)
  const own = openHome({ AFIELD_HOME: home })
  t.strictSame(await recoverSessions({ home: own, fetch: picky, withinMs: long }), { found: 1, delivered: 1 })
  const session = await phone.session()
  const told = () => session.events().flatMap(event => (event.t === 'service' && /server rejected/.test(event.text) ? event.text : []))
  await session.until(() => told().length > 0)
  t.strictSame(said(session), ['one', 'two'])
  t.match(told(), [/^The server rejected a message, which is kept on this computer: Payload Too Large/])
})

t.test('undeliverable messages are reported', async t => {
  const { home, folder } = await computerWithSession(t)
  await leaveBehind(home, folder, 'kept')
  const [path = ''] = findLeftovers(home)
  writeFileSync(join(path, 'session.json'), '{')
  const flush = runWrapper(t, { home, args: ['flush'] })
  t.equal(await flush.ended, 1)
  t.ok(flush.output.includes(path), flush.output)
  t.notMatch(flush.output, /Nothing to deliver/)
  t.ok(existsSync(join(path, 'outbox.journal')), 'and is kept')
})

function said({ messages }: Pick<PhoneSession, 'messages'>): string[] {
  return messages.flatMap(({ role, content }) => (role === 'user' ? String(Object(content).text) : []))
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve))
}
