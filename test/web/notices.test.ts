import t from 'tap'
import { type Noticed, noticesOf } from '../../web/state/notices.ts'
import type { Answered, OpenRequest } from '../../web/state/session-decisions.ts'
import { factsOf } from '../../web/state/session-facts.ts'
import type { Waiting } from '../../web/state/session-waiting.ts'
import { forgetWent, noteWent, type Went, went } from '../../web/state/went.ts'
import { session } from './stories/app/world.ts'
import { allowed, run } from './stories/tales.ts'

const request = run('p1', 'npm run build')
const asked: Waiting = { type: 'permission', request, id: 'p1', createdAt: request.createdAt }
const gone: Went = { session: 's1', asked, at: 50 }
const denied: Answered = { ...allowed, id: 'p1', outcome: 'denied', by: 'Tablet', at: 70 }

function known(presence: 'here' | 'away' | 'ended', more: Partial<Noticed> = {}): Noticed {
  const lifecycleState = presence === 'ended' ? 'archived' : 'running'
  const facts = factsOf(
    { ...session({ title: 'Build', metadata: { lifecycleState } }), id: 's1', isActive: presence === 'here' },
    undefined
  )
  return { facts, lives: new Map(), answered: [], open: [], ...more }
}

t.test('a decision that was only read says who answered it and when, or that nobody did', async t => {
  t.match(noticesOf(known('here', { answered: [denied] }), [gone]), [{ id: 'p1', mine: undefined, answered: { by: 'Tablet' }, at: 70 }])
  t.match(noticesOf(known('here', { answered: [{ ...denied, outcome: 'ended' }] }), [gone]), [{ answered: undefined, at: 70 }])
  t.match(noticesOf(known('here'), [gone]), [{ answered: undefined, at: 50 }], 'an existing wrapper tells nothing of it')
  t.match(noticesOf(known('ended'), [gone]), [{ answered: undefined }])
})

t.test('nothing is said to be over that may be open still, or that belongs to another session', async t => {
  t.same(noticesOf(known('away'), [gone]), [], 'its machine may only sleep')
  t.same(noticesOf(known('here', { open: [asked] }), [gone]), [], 'it has woken')
  t.same(noticesOf(known('ended'), [{ ...gone, session: 's2' }]), [])
})

t.test('an answer of this device is told of once, as that', async t => {
  const mine = { request: request as OpenRequest, verdict: { kind: 'once' as const }, at: 60, state: { type: 'delivered' as const } }
  const lives = new Map([['p1', { answer: mine, life: { type: 'ended' as const } }]])
  t.match(noticesOf(known('ended', { lives }), [gone]), [{ mine, answered: undefined, at: 60 }])
  t.equal(noticesOf(known('ended', { lives }), [gone]).length, 1)
})

t.test('the last one of each session stays until it was read', async t => {
  noteWent(gone)
  noteWent({ ...gone, session: 's2' })
  noteWent({ ...gone, asked: { ...asked, id: 'p2' } })
  t.same(
    went.value.map(({ session, asked: { id } }) => `${session} ${id}`),
    ['s2 p1', 's1 p2']
  )
  forgetWent('s1')
  t.same(
    went.value.map(({ session }) => session),
    ['s2']
  )
})
