import t from 'tap'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import { createNoticeQueue, type KeptNotice, type Notice } from '../../../lib/wrapper/home/notice-queue.ts'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import { createNotices } from '../../../lib/wrapper/session/notices.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { next, signUp } from '../../kit/person.ts'
import { demo } from '../kit/demo.ts'

/** A session's notes, the asks that are open in it, and a server that can be away. */
function startWorld(before: KeptNotice[] = []) {
  const notes: { notices?: KeptNotice[] } = { notices: before }
  const sent: string[] = []
  const bodies: Notice[] = []
  let trouble: Error | undefined
  const folder = { notes: notes as SessionNotes, note: (change: object) => void Object.assign(notes, change) }
  const queue = createNoticeQueue(folder, async notice => {
    if (trouble) throw trouble
    bodies.push(notice)
    sent.push(
      `${notice.kind} ${notice.noticeId === undefined ? 'nameless' : (notes.notices?.find(({ id }) => id === notice.noticeId)?.ask ?? 'news')}`
    )
  })
  const clock = manualClock()
  const open: string[] = []
  const later = (run: () => void, ms: number) => clock.after(ms, run)
  const notices = createNotices({ queue, open: () => open, clock: { now: () => clock.now(), later } })
  const close = (ask: string) => {
    open.splice(open.indexOf(ask), 1)
    notices.review()
  }
  const ask = (name: string, isAtTerminal = false) => {
    open.push(name)
    notices.asked(name, isAtTerminal)
  }
  const away = () => {
    trouble = new Unreachable('network')
  }
  const back = async () => {
    trouble = undefined
    notices.connected()
    await queue.flush()
  }
  const fail = (error: Error) => {
    trouble = error
  }
  return { notes, sent, bodies, queue, notices, clock, open, ask, close, away, back, fail }
}

t.test('a notice has the duration of a turn and where it started, and no content [P1]', async t => {
  const { notices, queue, clock, bodies, ask } = startWorld()
  notices.turnBegan('terminal')
  clock.advance(31_000)
  notices.turnEnded('done', true)
  await queue.flush()
  notices.turnBegan('phone')
  clock.advance(500)
  ask('a')
  await queue.flush()
  notices.turnEnded('failed', true)
  await queue.flush()
  t.match(bodies, [
    { kind: 'done', turnMs: 31_000, startedFrom: 'terminal' },
    { kind: 'permission', title: 'Your agent needs a decision', noticeId: String },
    { kind: 'error', turnMs: 500, startedFrom: 'phone' }
  ])
})

t.test('a request made while disconnected is sent after reconnecting, as one notice [W15]', async t => {
  const { notes, sent, queue, ask, away, back, close } = startWorld()
  away()
  ask('a')
  await queue.flush()
  t.match(notes.notices, [{ ask: 'a', isSent: false }], 'on disk until the server took it')
  await back()
  await back()
  t.same(sent, ['permission a'])
  close('a')
  await queue.flush()
  t.same(sent, ['permission a', 'settled a'])
  t.same(notes.notices, [])
})

t.test('a request answered while disconnected never rings; one that rang before is settled [W15]', async t => {
  const { notes, sent, queue, ask, away, back, close } = startWorld()
  ask('rang')
  await queue.flush()
  away()
  ask('quiet')
  await queue.flush()
  close('quiet')
  close('rang')
  await queue.flush()
  await back()
  t.same(sent, ['permission rang', 'settled rang', 'settled quiet'], 'its attempts may have come through')
  t.same(notes.notices, [])
})

t.test('requests left open by a killed process are settled by the next one, and unsent notices are dropped [W15]', async t => {
  const kept = (ask: string, isTried: boolean, isSent: boolean): KeptNotice => ({
    ...{ id: `id of ${ask}`, kind: 'permission', ask, isTried, isSent, isOver: false }
  })
  const { sent, queue, notices, notes } = startWorld([
    kept('sent', true, true),
    kept('in between', true, false),
    kept('waiting', false, false)
  ])
  notices.review()
  await queue.flush()
  t.same([sent, notes.notices], [['settled sent', 'settled in between'], []])
})

t.test('a notice that the server rejects is dropped, and the next one sent; one that it may accept later is kept', async t => {
  const { sent, queue, ask, fail, back, notes } = startWorld()
  fail(new Refused(400, 'Error'))
  ask('a')
  await queue.flush()
  t.same(notes.notices, [])
  for (const status of [401, 404, 429]) {
    fail(new Refused(status, 'later'))
    ask(`${status}`)
    await queue.flush()
  }
  await back()
  t.same(sent, ['permission 401', 'permission 404', 'permission 429'])
})

t.test('outdated notices are not sent after reconnecting', async t => {
  const { sent, queue, notices, away, back } = startWorld()
  away()
  notices.turnBegan('phone')
  notices.turnEnded('done', true)
  await queue.flush()
  notices.turnBegan('phone')
  notices.turnEnded('failed', true)
  await queue.flush()
  await back()
  t.same(sent, ['error news'])
})

t.test('a request that can be answered at the terminal is sent to the phone only when nobody answers there', async t => {
  const { sent, queue, ask, close, clock } = startWorld()
  ask('left', true)
  ask('answered', true)
  clock.advance(9_999)
  close('answered')
  t.same(sent, [])
  clock.advance(1)
  await queue.flush()
  t.same(sent, ['permission left'])
})

t.test('an agent silent for ten minutes is reported, and settled at its next output; one that waits for a person is not', async t => {
  const { sent, queue, notices, clock, ask, close } = startWorld()
  notices.turnBegan('phone')
  clock.advance(9 * 60_000)
  notices.heard()
  clock.advance(9 * 60_000)
  await queue.flush()
  t.same(sent, [])
  clock.advance(60_000)
  await queue.flush()
  t.same(sent, ['silent silence'])
  notices.heard()
  await queue.flush()
  t.same(sent, ['silent silence', 'settled silence'])
  ask('a')
  await queue.flush()
  clock.advance(60 * 60_000)
  close('a')
  notices.turnEnded('cancelled', true)
  await queue.flush()
  t.same(sent.slice(2), ['permission a', 'settled a'])
})

t.test('a turn that was stopped, or is followed by another, causes no notice', async t => {
  const { sent, notices, queue } = startWorld()
  notices.turnBegan('phone')
  notices.turnEnded('cancelled', true)
  notices.turnBegan('phone')
  notices.turnEnded('done', false)
  await queue.flush()
  t.same(sent, [])
})

t.test('silence of one turn is settled at its end, and the next one is watched from its own beginning', async t => {
  const { notices, queue, clock, sent } = startWorld()
  notices.turnBegan('phone')
  clock.advance(9 * 60_000)
  notices.turnBegan('phone')
  clock.advance(9 * 60_000)
  await queue.flush()
  t.strictSame(sent, [], 'a turn has ten minutes of its own')
  clock.advance(60_000)
  await queue.flush()
  t.strictSame(sent, ['silent silence'])
  notices.turnEnded('cancelled', true)
  await queue.flush()
  t.strictSame(sent, ['silent silence', 'settled silence'])
  notices.heard()
  t.equal(clock.pending, 0, 'a late word starts no watch')
  notices.turnBegan('phone')
  clock.advance(10 * 60_000)
  await queue.flush()
  t.equal(sent.at(-1), 'silent silence', 'and the next turn is reported again')
})

t.test('an agent that has been silent since a person answered is reported within a minute', async t => {
  const { notices, queue, clock, sent, ask, close } = startWorld()
  notices.turnBegan('phone')
  ask('a')
  clock.advance(10 * 60_000)
  close('a')
  clock.advance(59_999)
  await queue.flush()
  t.notOk(sent.includes('silent silence'))
  clock.advance(1)
  await queue.flush()
  t.equal(sent.at(-1), 'silent silence')
})

t.test('a session that failed rings, and so does an end whose turn was never seen, both without a duration', async t => {
  const { notices, queue, bodies } = startWorld()
  notices.failed()
  await queue.flush()
  notices.turnEnded('done', true)
  await queue.flush()
  t.match(
    bodies.map(({ kind, ...notice }) => [kind, 'turnMs' in notice]),
    [
      ['failed', false],
      ['done', false]
    ]
  )
})

t.test('a closed session watches its agent no longer', async t => {
  const { notices, queue, clock, sent } = startWorld()
  notices.turnBegan('phone')
  notices.close()
  t.equal(clock.pending, 0)
  clock.advance(20 * 60_000)
  await queue.flush()
  t.strictSame(sent, [])
})

t.test('a question rings as one, later if it can be answered at the terminal', async t => {
  const { notices, queue, clock, sent, open } = startWorld()
  open.push('here', 'there')
  notices.questioned('here', true)
  notices.questioned('there', false)
  await notices.settled()
  t.strictSame(sent, ['question there'])
  clock.advance(10_000)
  await queue.flush()
  t.strictSame(sent, ['question there', 'question here'])
})

t.test('the apps are told when a turn started on the phone ends, when a decision is needed, and when it no longer is', async t => {
  const { server, phone, session } = await demo(t)
  const app = await (await signUp(t, server, phone.secret)).connect({ signals: true })
  const done = next(app, 'ephemeral', ({ kind }) => kind === 'done')
  await session.say('SCRIPT: text hello')
  t.match(await done, { type: 'session-event', sessionId: session.id, title: 'Your agent is done' })
  const asked = next(app, 'ephemeral', ({ type, kind }) => type === 'notice' && kind === 'permission')
  await session.say('SCRIPT: tool write {"path":"old.txt","content":"x"}')
  const { noticeId } = await asked
  const settled = next(app, 'ephemeral', ({ kind }) => kind === 'settled')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length > 0)
  const [id] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id: id ?? '', approved: false })
  t.match(await settled, { type: 'notice', sessionId: session.id, noticeId })
})
