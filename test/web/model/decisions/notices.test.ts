import t from 'tap'
import {
  type ClosedDecision,
  closedDecisions,
  forgetClosed,
  noteClosed,
  noteEnding,
  noteSince
} from '../../../../web/model/decisions/closed-decisions.ts'
import type { Answered, OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import { type Noticed, noticesOf } from '../../../../web/model/decisions/notices.ts'
import type { Waiting } from '../../../../web/model/decisions/waiting.ts'
import { factsOf } from '../../../../web/model/session/facts.ts'
import { noticeWords } from '../../../../web/session/decide/notice-words.ts'
import { session } from '../../stories/app/world.ts'
import { allowed, run } from '../../stories/transcripts.ts'

const request = run('p1', 'npm run build')
const asked: Waiting = { type: 'permission', request, id: 'p1', createdAt: request.createdAt }
const gone: ClosedDecision = { session: 's1', asked, at: 50, beside: ['p0'] }
const denied: Answered = { ...allowed, id: 'p1', outcome: 'denied', by: 'Tablet', at: 70 }

function known(presence: 'here' | 'away' | 'ended', more: Partial<Noticed> = {}): Noticed {
  const lifecycleState = presence === 'ended' ? 'archived' : 'running'
  const facts = factsOf(
    { ...session({ title: 'Build', metadata: { lifecycleState } }), id: 's1', isActive: presence === 'here' },
    undefined,
    false
  )
  return { facts, lives: new Map(), answered: [], open: [], ...more }
}

t.test('a decision viewed but not made shows who answered it and when, or that nobody did', async t => {
  t.match(noticesOf(known('here', { answered: [denied] }), [gone]), [{ id: 'p1', mine: undefined, answered: { by: 'Tablet' }, at: 70 }])
  t.match(noticesOf(known('here', { answered: [{ ...denied, outcome: 'ended' }] }), [gone]), [{ answered: undefined, at: 70 }])
  t.match(noticesOf(known('here'), [gone]), [{ answered: undefined, at: 50 }], 'an existing wrapper does not report it')
  t.match(noticesOf(known('ended'), [gone]), [{ answered: undefined }])
})

t.test('nothing is shown as over that may still be open, or that belongs to another session', async t => {
  t.same(noticesOf(known('away'), [gone]), [], 'its machine may only sleep')
  t.same(noticesOf(known('here', { open: [asked] }), [gone]), [], 'it has woken')
  t.same(noticesOf(known('ended'), [{ ...gone, session: 's2' }]), [])
})

t.test('an answer of this device is reported once, as such', async t => {
  const mine = { request: request as OpenRequest, verdict: { kind: 'once' as const }, at: 60, state: { type: 'delivered' as const } }
  const lives = new Map([['p1', { answer: mine, life: { type: 'ended' as const } }]])
  t.match(noticesOf(known('ended', { lives }), [gone]), [{ mine, answered: undefined, at: 60 }])
  t.equal(noticesOf(known('ended', { lives }), [gone]).length, 1)
})

t.test('the last one of each session stays until it was read', async t => {
  noteClosed(gone)
  noteClosed({ ...gone, session: 's2' })
  noteClosed({ ...gone, asked: { ...asked, id: 'p2' } })
  t.same(
    closedDecisions.value.map(({ session, asked: { id } }) => `${session} ${id}`),
    ['s2 p1', 's1 p2']
  )
  forgetClosed('s1')
  t.same(
    closedDecisions.value.map(({ session }) => session),
    ['s2']
  )
})

t.test('a viewed one is replaced by the next decision of its session, not by one open at the same time', async t => {
  const next = (id: string): Waiting => ({ ...asked, id })
  const answered = [denied]
  t.equal(noticesOf(known('here', { answered, open: [next('p0')] }), [gone]).length, 1, 'it was there already')
  t.same(noticesOf(known('here', { answered, open: [next('p2')] }), [gone]), [], 'above the next it reads as if that one were answered')
  t.same(noticesOf(known('here', { answered: [...answered, { ...denied, id: 'p2' }] }), [gone]), [], 'and does not come back after it')
  const byRule: Answered = { ...denied, id: 'p3', outcome: 'allowed-once', by: undefined, rule: 'npm test' }
  t.equal(noticesOf(known('here', { answered: [...answered, byRule] }), [gone]).length, 1, 'a request allowed by a rule was never open')
})

t.test('a viewed one disappears once its turn is over and it was read, or a message followed', async t => {
  for (const last of ['read', 'said'] as const) {
    for (const order of [[last, 'turn-over'] as const, ['turn-over', last] as const]) {
      noteClosed(gone)
      noteSince('s1', order[0])
      t.equal(closedDecisions.value.filter(({ session }) => session === 's1').length, 1, `${order[0]} is not enough`)
      noteSince('s1', order[1])
      t.equal(closedDecisions.value.filter(({ session }) => session === 's1').length, 0, order.join(', then '))
    }
  }
  noteClosed(gone)
  noteSince('s1', 'read')
  noteClosed({ ...gone, asked: { ...asked, id: 'p2' } })
  noteSince('s1', 'turn-over')
  t.equal(closedDecisions.value.filter(({ session }) => session === 's1').length, 1, 'the next one was not read yet')
  forgetClosed('s1')
})

t.test('an answer of another device with the same name is not shown as yours, and nothing is shown twice', async t => {
  const told = (by: string | undefined, more: Partial<ClosedDecision> = {}) => {
    const now = known('here', { answered: [{ ...denied, outcome: 'allowed-once', by }] })
    return noticesOf(now, [{ ...gone, ...more }]).map(notice => noticeWords(notice, now.facts, 'Phone'))
  }
  t.same(told('Tablet'), [{ title: 'Answered on Tablet', text: 'Allowed once' }])
  t.same(told('Phone'), [{ title: 'Answered on another device', text: 'Allowed once' }])
  t.same(told(undefined), [{ title: 'Answered elsewhere', text: 'Allowed once' }])
  t.same(told('Phone', { isLookedUp: true }), [{ title: 'Allowed once by you' }], 'it may have been this one')
  noteClosed(gone)
  noteClosed({ ...gone, isLookedUp: true })
  t.notOk(
    closedDecisions.value.find(({ session }) => session === 's1')?.isLookedUp,
    'it closed while it was on screen, whatever the address'
  )
  forgetClosed('s1')
})

t.test('when the person ends an agent, its requests are not shown as withdrawn', async t => {
  const title = () => {
    const now = known('here')
    return noticesOf(now, closedDecisions.value).map(notice => noticeWords(notice, now.facts, 'Phone').title)
  }
  const now = { ...gone, at: Date.now() }
  noteClosed(now)
  t.same(title(), ['Claude withdrew this'])
  noteSince('s1', 'stopped')
  t.same(title(), ['Session stopped'], 'begun again, it is here again')
  noteEnding('s1')
  noteClosed({ ...now, at: Date.now() })
  t.same(title(), ['You ended Claude'])
  noteEnding('s1', false)
  noteClosed({ ...now, at: Date.now() })
  t.same(title(), ['Claude withdrew this'], 'it could not be ended')
  forgetClosed('s1')
})

t.test('what happened since is noted once, and an agent that was ended a minute ago is no reason any more', async t => {
  const since = () => closedDecisions.value.map(({ since }) => since)
  for (const session of ['s1', 's2']) forgetClosed(session)
  noteSince('s1', 'read')
  t.same(since(), [], 'nothing closed there')
  noteClosed(gone)
  noteSince('s1', 'stopped')
  const before = closedDecisions.value
  noteSince('s1', 'stopped')
  t.equal(closedDecisions.value, before)
  noteSince('s1', 'said')
  t.same(since(), [['stopped', 'said']])
  noteClosed({ ...gone, session: 's2' })
  forgetClosed('s1')
  t.same(
    closedDecisions.value.map(({ session }) => session),
    ['s2']
  )
  forgetClosed('s2')
  noteEnding('s1')
  for (const [ms, expected] of [
    [59_000, ['ended-here']],
    [61_000, undefined]
  ] as const) {
    noteClosed({ ...gone, at: Date.now() + ms })
    t.same(since(), [expected], `${ms}`)
  }
  noteEnding('s1', false)
  forgetClosed('s1')
})
