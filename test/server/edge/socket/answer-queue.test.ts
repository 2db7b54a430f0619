import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { AnswerQueue } from '../../../../lib/server/edge/socket/answer-queue.ts'

/** Works that go on until they are ended by name; `begun` tells which have begun, in order. */
function works(queue: AnswerQueue) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    begin(account: string, name: string, bytes: number) {
      void queue.run(account, bytes, () => {
        begun.push(name)
        return new Promise(resolve => ends.set(name, resolve))
      })
    },
    async end(name: string) {
      ends.get(name)?.()
      await turnEnds()
    }
  }
}

t.test('an account gets at most half of it, and another has its turn at once [B2, B3]', async t => {
  const { begun, begin, end } = works(new AnswerQueue(100))
  for (const name of ['a1', 'a2', 'a3']) begin('ada', name, 25)
  begin('bob', 'b1', 25)
  t.same(begun, ['a1', 'a2', 'b1'])
  await end('a2')
  t.same(begun, ['a1', 'a2', 'b1', 'a3'])
})

t.test('accounts take turns, and nobody passes a large one that waits for room [B3]', async t => {
  const { begun, begin, end } = works(new AnswerQueue(100))
  for (const name of ['a1', 'a2', 'a3']) begin('ada', name, 200)
  begin('bob', 'b1', 25)
  begin('cleo', 'c1', 50)
  begin('dora', 'd1', 25)
  t.same(begun, ['a1', 'b1'], 'what may be larger than the half counts as the half')
  await end('a1')
  t.same(begun, ['a1', 'b1', 'a2'])
  await end('b1')
  t.same(begun, ['a1', 'b1', 'a2', 'c1'])
  await end('a2')
  t.same(begun, ['a1', 'b1', 'a2', 'c1', 'd1'], 'before the next of the first account')
  await end('c1')
  await end('d1')
  t.same(begun.at(-1), 'a3')
})
