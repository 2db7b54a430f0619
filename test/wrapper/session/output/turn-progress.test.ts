import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { linesChanged, publishProgress } from '../../../../lib/wrapper/session/output/turn-progress.ts'
import { demo, turnsEnded } from '../../kit/demo.ts'

t.test('added and removed lines are counted, and moved ones are neither', async t => {
  const diff = (oldText: string | null, newText: string) => ({ type: 'diff' as const, path: '/a', oldText, newText })
  t.same(linesChanged([diff(null, 'one\ntwo\n')]), { added: 2, removed: 0 })
  t.same(linesChanged([diff('one\ntwo\n', 'one\n2\nthree\n'), diff('x', '')]), { added: 2, removed: 2 })
  t.same(linesChanged([diff('a\na\nb', 'b\na')]), { added: 0, removed: 1 })
  t.same(linesChanged([{ type: 'text', text: 'a\nb' }]), { added: 0, removed: 0 })
})

t.test('what is published changes only with the plan and with the lines of the last turn', t => {
  const published: object[] = []
  const follow = publishProgress(change => {
    const { progress, changes } = change({ path: '', host: '', name: 'kept' })
    published.push({ progress, changes })
  })
  const told = (event: AgentEvent) => {
    follow(event)
    return published.splice(0)
  }
  const plan = (...states: ('completed' | 'pending')[]): AgentEvent => ({
    type: 'plan',
    entries: states.map(status => ({ content: 'dig', status, priority: 'medium' }))
  })
  const step = (status: 'completed' | 'failed', newText: string): AgentEvent => {
    const diff = { type: 'diff' as const, path: '/a', oldText: 'a\n', newText }
    return {
      type: 'step-ended',
      status,
      step: { call: 's', name: 'Edit', title: '', kind: 'edit', input: {}, locations: [], content: [diff] }
    }
  }
  const end: AgentEvent = { type: 'turn-ended', reason: 'done' }
  t.strictSame(told(plan()), [], 'an empty plan is none')
  t.strictSame(told(plan('pending')), [{ progress: { done: 0, all: 1 }, changes: undefined }])
  t.strictSame(told(plan('pending')), [])
  t.strictSame(told(plan('completed', 'pending')), [{ progress: { done: 1, all: 2 }, changes: undefined }])
  t.strictSame([...told(step('failed', 'b\n')), ...told(step('completed', 'b\n')), ...told(step('completed', 'c\nd\n'))], [])
  t.strictSame(told(end), [{ progress: undefined, changes: { added: 3, removed: 2 } }])
  t.strictSame([...told(step('completed', 'b\n')), ...told(step('completed', 'c\nd\n')), ...told(end)], [], 'as many as in the turn before')
  t.strictSame(told(plan('pending')).length, 1)
  t.strictSame(told(end), [{ progress: undefined, changes: undefined }])
  t.strictSame(told(end), [])
  t.end()
})

t.test("a session reports the progress of its turn's plan, and the changes of its last turn", async t => {
  const { session } = await demo(t)
  await session.until(({ metadata }) => metadata.operatingModes !== undefined)
  await session.say('SCRIPT: tool write {"path":"auto.txt","content":"one\\ntwo\\n"}', 'acceptEdits')
  await session.until(session => turnsEnded(session) === 1)
  await session.until(({ metadata }) => metadata.changes !== undefined)
  t.same(session.metadata.changes, { added: 2, removed: 0 })
  await session.say('Make a plan')
  await session.until(({ metadata }) => metadata.progress !== undefined)
  t.match(session.metadata.progress, { done: Number, all: Number })
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 2)
  await session.until(({ metadata }) => metadata.progress === undefined && metadata.changes === undefined)
})
