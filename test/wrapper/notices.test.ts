import t from 'tap'
import { createNotices, type Notice } from '../../lib/wrapper/notices.ts'
import { next, signUp } from '../kit/person.ts'
import { demo } from './kit/demo.ts'

t.test('a notice says how long a turn took and where it began, and nothing of what was done [P1]', async t => {
  let now = 0
  const sent: Notice[] = []
  const notices = createNotices(notice => sent.push(notice), { now: () => now })
  notices.turnBegan('terminal')
  now = 31_000
  notices.turnEnded('done', true)
  notices.turnBegan('phone')
  now = 31_500
  notices.asked()
  notices.turnEnded('failed', true)
  t.match(sent, [
    { kind: 'done', turnMs: 31_000, startedFrom: 'terminal' },
    { kind: 'permission', title: 'Your agent needs a decision' },
    { kind: 'error', turnMs: 500, startedFrom: 'phone' }
  ])
})

t.test('what can be answered at the terminal is told to the phone only when nobody answers there', async t => {
  const sent: Notice[] = []
  const due: { run(): void; afterMs: number }[] = []
  const notices = createNotices(notice => sent.push(notice), { later: (run, afterMs) => due.push({ run, afterMs }) })
  let isOpen = true
  notices.asked(() => isOpen)
  notices.questioned(() => isOpen)
  t.strictSame([sent, due.map(({ afterMs }) => afterMs)], [[], [10_000, 10_000]])
  due[0]?.run()
  t.match(sent, [{ kind: 'permission' }])
  isOpen = false
  due[1]?.run()
  t.equal(sent.length, 1)
})

t.test('a turn that was stopped, or that another follows, is no news', async t => {
  const sent: Notice[] = []
  const notices = createNotices(notice => sent.push(notice))
  notices.turnBegan('phone')
  notices.turnEnded('cancelled', true)
  notices.turnBegan('phone')
  notices.turnEnded('done', false)
  t.same(sent, [])
})

t.test('the apps hear when a turn begun from the phone is over, and when a decision is wanted', async t => {
  const { server, phone, session } = await demo(t)
  const app = await (await signUp(t, server, phone.secret)).connect()
  const done = next(app, 'ephemeral', ({ kind }) => kind === 'done')
  await session.say('SCRIPT: text hello')
  t.match(await done, { type: 'session-event', sessionId: session.id, title: 'Your agent is done' })
  const asked = next(app, 'ephemeral', ({ kind }) => kind === 'permission')
  await session.say('SCRIPT: tool write {"path":"old.txt","content":"x"}')
  t.match(await asked, { type: 'session-event', sessionId: session.id })
})
