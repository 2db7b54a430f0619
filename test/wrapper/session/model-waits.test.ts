import t from 'tap'
import type { AgentState } from '../../../lib/protocol/sealed/session.ts'
import type { AgentEvent, Step } from '../../../lib/wrapper/agents/agent.ts'
import { createModelWaits } from '../../../lib/wrapper/session/model-waits.ts'
import { manualClock } from '../../kit/manual-clock.ts'

function waits() {
  const clock = manualClock()
  let state: AgentState = { controlledByUser: true }
  let writes = 0
  let changes = 0
  const told = createModelWaits({
    publish(change) {
      state = change(state)
      writes++
    },
    onChange: () => void changes++,
    clock,
    now: () => clock.now()
  })
  return {
    clock,
    told,
    get shown() {
      return state.modelWait
    },
    get state() {
      return state
    },
    get changes() {
      return changes
    },
    get writes() {
      return writes
    }
  }
}

const step: Step = { call: 'c', name: 'Bash', title: 'make', kind: 'execute', input: {}, locations: [], content: [] }
const word: AgentEvent = { type: 'text-grew', block: 'b', text: 'a', thinking: false }
const retrying: AgentEvent = { type: 'retrying', attempt: 3, of: 10, inMs: 5000, why: 'overloaded' }

t.test('half a minute of silence is reported, until the next word', async t => {
  const at = waits()
  at.told.turnBegan()
  at.clock.advance(29_999)
  t.equal(at.shown, undefined)
  at.clock.advance(1)
  t.strictSame(at.shown, { since: 0 })
  at.told.hear(word)
  t.equal(at.shown, undefined)
  at.clock.advance(30_000)
  t.strictSame(at.shown, { since: 30_000 })
  at.told.turnEnded()
  t.equal(at.shown, undefined)
  at.clock.advance(60_000)
  t.equal(at.shown, undefined, 'between two turns nobody waits for a word')
})

t.test('silence changes nothing else of the state, and is shown on the computer too', async t => {
  const at = waits()
  at.told.turnBegan()
  at.clock.advance(30_000)
  t.strictSame([at.state, at.changes], [{ controlledByUser: true, modelWait: { since: 0 } }, 1])
  t.strictSame(at.told.current, { since: 0 })
  at.told.turnEnded()
  t.strictSame([at.state, at.changes], [{ controlledByUser: true, modelWait: undefined }, 2])
  t.equal(at.told.current, undefined)
})

t.test("an agent's message about its next attempt is shown until something arrives", async t => {
  const at = waits()
  at.told.turnBegan()
  at.clock.advance(1000)
  at.told.hear(retrying)
  t.strictSame(at.shown, { since: 0, retry: { attempt: 3, of: 10, at: 6000, inMs: 5000, why: 'overloaded' } })
  at.clock.advance(60_000)
  t.match(at.shown, { retry: { attempt: 3 } }, 'and stays')
  at.told.hear(word)
  t.equal(at.shown, undefined)
})

t.test("a person's message is not model output: a prompt read late leaves the next attempt", async t => {
  const at = waits()
  at.told.turnBegan()
  at.told.hear(retrying)
  at.told.hear({ type: 'prompted', text: 'go on', isOurs: true, row: 'r' })
  t.match(at.shown, { retry: { attempt: 3 } })
})

t.test('an error received before the prompt is read belongs to its turn, and to no later one', async t => {
  const at = waits()
  at.told.hear(retrying)
  t.equal(at.shown, undefined, 'nothing works yet')
  at.clock.advance(200)
  at.told.turnBegan()
  t.match(at.shown, { retry: { attempt: 3, of: 10, at: 5000 } })
  at.clock.advance(60_000)
  t.match(at.shown, { retry: { attempt: 3 } }, 'and stays')
  at.told.hear(word)
  at.told.turnEnded()
  at.told.turnBegan()
  t.equal(at.shown, undefined)
  at.told.turnEnded()
  at.told.hear(retrying)
  at.told.turnEnded()
  at.told.turnBegan()
  t.equal(at.shown, undefined, 'of a prompt that was taken back')
})

t.test('while a step runs, or a person is asked, silence is not reported', async t => {
  const at = waits()
  at.told.turnBegan()
  at.told.hear({ type: 'step-started', step })
  at.clock.advance(600_000)
  t.equal(at.shown, undefined)
  at.told.hear({ type: 'step-ended', step, status: 'completed' })
  at.told.hear({ type: 'question-asked', asked: { ask: 'q', title: 'Which?', kind: 'form', questions: [] } })
  at.clock.advance(600_000)
  t.equal(at.shown, undefined)
  at.told.hear({ type: 'question-closed', ask: 'q' })
  at.told.hear({ type: 'permission-asked', asked: { ask: 'p', step, choices: [] } as never })
  at.clock.advance(600_000)
  t.equal(at.shown, undefined)
  at.told.hear({ type: 'permission-closed', ask: 'p' })
  at.clock.advance(30_000)
  t.match(at.shown, { since: 1_800_000 })
})

t.test('streaming words cost no writes of the state', async t => {
  const at = waits()
  at.told.turnBegan()
  for (let n = 0; n < 100; n++) at.told.hear(word)
  at.told.turnEnded()
  t.equal(at.writes, 0)
  t.equal(at.clock.pending, 0)
})

t.test('a step left open by a turn does not hide the silence of the next', async t => {
  const at = waits()
  at.told.turnBegan()
  at.told.hear({ type: 'step-started', step })
  at.told.turnEnded()
  at.told.hear(word)
  t.equal(at.clock.pending, 0, 'between two turns words start no timer')
  at.told.hear(retrying)
  at.told.turnBegan()
  t.match(at.shown, { retry: { attempt: 3 } }, 'and a refusal belongs to the next turn')
  at.told.turnEnded()
  at.clock.advance(1_000)
  at.told.turnBegan()
  at.clock.advance(30_000)
  t.strictSame(at.shown, { since: 1_000 })
})
