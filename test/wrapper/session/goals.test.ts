import t from 'tap'
import type { AgentGoalStatus } from '../../../lib/protocol/sealed/goals.ts'
import type { AgentState } from '../../../lib/protocol/sealed/session.ts'
import type { Agent } from '../../../lib/wrapper/agents/agent.ts'
import { createGoals } from '../../../lib/wrapper/session/goals.ts'

let revision = 0
const goalOf = (text: string, sourceSessionId = 'talk'): AgentGoalStatus => {
  return { source: 'claude', observedAt: 1, sourceRevision: ++revision, status: 'active', sourceSessionId, text }
}
const none = (): AgentGoalStatus => ({
  source: 'claude',
  observedAt: 1,
  sourceRevision: ++revision,
  status: 'inactive',
  sourceSessionId: 'talk'
})

/** Goals of an agent whose goal is changed by saying this, or by itself. */
function goalsOf({ changeGoal, withinMs = 60_000 }: { changeGoal?: Agent['changeGoal'] | null; withinMs?: number } = {}) {
  let state: AgentState = { controlledByUser: true }
  let writes = 0
  const wishes: (string | undefined)[] = []
  const says = async (objective: string | undefined) => {
    wishes.push(objective)
    return `/goal ${objective ?? 'clear'}`
  }
  const agent = { conversation: 'talk', ...(changeGoal !== null && { changeGoal: changeGoal ?? says }) } as Agent
  const publish = (change: (state: AgentState) => AgentState) => {
    state = change(state)
    writes++
  }
  const said: string[] = []
  const say = (text: string) => said.push(text) > 0
  const goals = createGoals(agent, publish, withinMs)
  return { goals, say, said, wishes, state: () => state, writes: () => writes }
}

t.test('a goal is shown beside the rest of the state, once for each revision', async t => {
  const { goals, state, writes } = goalsOf()
  const goal = goalOf('ship it')
  goals.take(goal)
  goals.take({ ...goal, observedAt: 2 })
  t.strictSame([state(), writes()], [{ controlledByUser: true, agentGoalStatus: goal }, 1])
  goals.take(none())
  t.match([state(), writes()], [{ agentGoalStatus: { status: 'inactive' } }, 2])
})

t.test('a change is over once the agent reports it, whatever its spaces and the goals in between', async t => {
  const { goals, say, said, wishes } = goalsOf()
  goals.take(goalOf('ship it'))
  let isOver = false
  const editing = goals.change({ action: 'edit', objective: ' ship it\n today ' }, say).then(() => (isOver = true))
  await t.rejects(goals.change({ action: 'clear' }, say), { message: 'The goal is already being changed.' })
  for (const goal of [goalOf('ship it soon'), goalOf('ship it today', 'another'), none()]) goals.take(goal)
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(isOver)
  goals.take(goalOf('ship  it today'))
  await editing
  t.strictSame([wishes, said], [['ship it\n today'], ['/goal ship it\n today']])

  const clearing = goals.change({ action: 'clear' }, say)
  goals.take(none())
  await clearing
  t.strictSame([wishes.at(-1), said.at(-1)], [undefined, '/goal clear'])
})

t.test('a goal that already is as wished is left alone', async t => {
  const { goals, say, said } = goalsOf()
  goals.take(goalOf('ship it'))
  await goals.change({ action: 'edit', objective: ' ship  it' }, say)
  t.strictSame(said, [])
})

t.test('what cannot be changed is refused with its reason', async t => {
  const { goals, say, said } = goalsOf()
  const missing = { message: 'The agent has no goal now.' }
  await t.rejects(goals.change({ action: 'clear' }, say), missing)
  goals.take(goalOf('ship it', 'another'))
  await t.rejects(goals.change({ action: 'edit', objective: 'x' }, say), missing, 'that of another conversation is over')
  goals.take(goalOf('ship it'))
  await t.rejects(goals.change({ action: 'stop' }, say), { message: 'A goal can be cleared or edited, not stopped.' })
  for (const objective of [undefined, '', ' \n'])
    await t.rejects(goals.change({ action: 'edit', objective }, say), { message: 'Say what the goal should be.' })
  t.strictSame(said, [])
  const { goals: ofNone } = goalsOf({ changeGoal: null })
  ofNone.take(goalOf('ship it'))
  await t.rejects(ofNone.change({ action: 'clear' }, say), { message: 'This agent has no goals.' })
})

t.test('a change that the agent is too busy for, rejects or does not confirm fails, and another may follow', async t => {
  const { goals, say } = goalsOf({ withinMs: 1 })
  goals.take(goalOf('ship it'))
  const busy = { message: 'The agent is working. Stop its turn first, or wait for it to end.' }
  await t.rejects(
    goals.change({ action: 'clear' }, () => false),
    busy
  )
  await t.rejects(goals.change({ action: 'clear' }, say), { message: 'The agent did not confirm the change of its goal.' })
  const broken = goalsOf({ changeGoal: async () => Promise.reject(new Error('no such goal')) })
  broken.goals.take(goalOf('ship it'))
  for (let n = 0; n < 2; n++) await t.rejects(broken.goals.change({ action: 'clear' }, broken.say), { message: 'no such goal' })
  t.strictSame(broken.said, [])
})

t.test('an agent that changes its goal itself is told nothing', async t => {
  const { goals, say, said } = goalsOf({ changeGoal: async () => undefined })
  goals.take(goalOf('ship it'))
  const clearing = goals.change({ action: 'clear' }, say)
  goals.take(none())
  await clearing
  t.strictSame(said, [])
})
