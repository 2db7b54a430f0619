import t from 'tap'
import { linesChanged } from '../../../lib/wrapper/session/turn-work.ts'
import { demo, turnsEnded } from '../kit/demo.ts'

t.test('lines that are new and lines that are gone are counted, and one that moved is neither', async t => {
  const diff = (oldText: string | null, newText: string) => ({ type: 'diff' as const, path: '/a', oldText, newText })
  t.same(linesChanged([diff(null, 'one\ntwo\n')]), { added: 2, removed: 0 })
  t.same(linesChanged([diff('one\ntwo\n', 'one\n2\nthree\n'), diff('x', '')]), { added: 2, removed: 2 })
  t.same(linesChanged([diff('a\na\nb', 'b\na')]), { added: 0, removed: 1 })
  t.same(linesChanged([{ type: 'text', text: 'a\nb' }]), { added: 0, removed: 0 })
})

t.test('a session says how far the plan of its turn is, and what its last turn changed', async t => {
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
