import t from 'tap'
import { linesChanged } from '../../../../lib/wrapper/session/output/turn-progress.ts'
import { demo, turnsEnded } from '../../kit/demo.ts'

t.test('added and removed lines are counted, and moved ones are neither', async t => {
  const diff = (oldText: string | null, newText: string) => ({ type: 'diff' as const, path: '/a', oldText, newText })
  t.same(linesChanged([diff(null, 'one\ntwo\n')]), { added: 2, removed: 0 })
  t.same(linesChanged([diff('one\ntwo\n', 'one\n2\nthree\n'), diff('x', '')]), { added: 2, removed: 2 })
  t.same(linesChanged([diff('a\na\nb', 'b\na')]), { added: 0, removed: 1 })
  t.same(linesChanged([{ type: 'text', text: 'a\nb' }]), { added: 0, removed: 0 })
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
