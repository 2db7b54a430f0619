import t from 'tap'
import type { AgentState, Unanswered } from '../../../../lib/protocol/sealed/session.ts'
import { createAutoDeny } from '../../../../lib/wrapper/session/requests/auto-deny.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { startServer } from '../../../kit/server.ts'
import { turnsEnded } from '../../kit/demo.ts'
import { linkedComputer } from '../../kit/world.ts'
import { runWrapper } from '../../kit/wrapper.ts'

const minutes = 60_000

/** A session in which asks are open, and what was denied in it. */
function startWorld(chosen?: Unanswered) {
  const clock = manualClock()
  const notes: { unanswered?: Unanswered | undefined } = { unanswered: chosen }
  const folder = { notes, note: (change: object) => void Object.assign(notes, change) }
  const open: string[] = []
  const denied: string[] = []
  let state: AgentState = {}
  const publish = (change: (state: AgentState) => AgentState) => {
    state = change(state)
  }
  const autoDeny = createAutoDeny({ folder, open: () => open, publish, clock, now: clock.now })
  const ask = (name: string) => {
    open.push(name)
    autoDeny.review()
  }
  const answer = (name: string) => {
    open.splice(open.indexOf(name), 1)
    autoDeny.review()
  }
  autoDeny.begin(async name => {
    denied.push(name)
    answer(name)
  })
  return { clock, notes, denied, autoDeny, ask, answer, state: () => state.unanswered }
}

t.test('by default, unanswered requests wait', t => {
  const { clock, denied, ask } = startWorld()
  ask('a')
  clock.advance(24 * 60 * minutes)
  t.same(denied, [])
  t.equal(clock.pending, 0)
  t.end()
})

t.test('a request not answered in time is denied once, an answered one is not [P11]', t => {
  const { clock, notes, denied, autoDeny, ask, answer, state } = startWorld()
  autoDeny.choose(5)
  t.same([notes.unanswered, state()], Array(2).fill({ denyAfterMinutes: 5, since: 0 }))
  ask('a')
  clock.advance(minutes)
  ask('b')
  answer('a')
  clock.advance(4 * minutes)
  t.same(denied, [])
  clock.advance(minutes)
  t.same(denied, ['b'])
  clock.advance(60 * minutes)
  t.same(denied, ['b'])
  t.end()
})

t.test('requests open when it is turned on count from then, and no longer once it is turned off', t => {
  const { clock, denied, autoDeny, ask, state } = startWorld()
  ask('a')
  clock.advance(10 * minutes)
  autoDeny.choose(2)
  clock.advance(2 * minutes - 1)
  t.same(denied, [])
  autoDeny.choose(null)
  t.equal(state(), undefined)
  clock.advance(60 * minutes)
  t.same(denied, [])
  autoDeny.choose(2)
  clock.advance(2 * minutes)
  t.same(denied, ['a'])
  t.end()
})

t.test('a session resumed after a kill keeps it, and says so', t => {
  const { clock, denied, ask, state } = startWorld({ denyAfterMinutes: 15, since: 0 })
  t.match(state(), { denyAfterMinutes: 15 })
  ask('a')
  clock.advance(15 * minutes)
  t.same(denied, ['a'])
  t.end()
})

// Two minutes pass in a moment.
const hurry = `const wait = globalThis.setTimeout
globalThis.setTimeout = (run, ms, ...more) => wait(run, ms === 120000 ? 500 : ms, ...more)`

t.test('an agent is told that nobody answered, and continues', async t => {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  runWrapper(t, { home, args: ['demo'], env: { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(hurry)}"` } })
  const session = await phone.session()
  await t.rejects(session.call('setUnanswered', { denyAfterMinutes: 3 as 2 }))
  t.same(await session.call('setUnanswered', { denyAfterMinutes: 2 }), { denyAfterMinutes: 2 })
  await session.until(({ state }) => state.unanswered?.denyAfterMinutes === 2)
  await session.say('SCRIPT: tool write {"path":"a.txt","content":"x"}; text going on')
  await session.until(session => turnsEnded(session) >= 1)
  const [request] = Object.values(session.state.completedRequests ?? {})
  t.match(request, { status: 'denied', answeredBy: 'nobody', reason: 'Nobody answered within 2 minutes. Go on without it.' })
})
