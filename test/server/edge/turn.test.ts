import t from 'tap'
import { Turn } from '../../../lib/server/edge/turn.ts'

t.test('what fails for one connection keeps no other from what it is to get', async t => {
  const met: unknown[] = []
  const done: string[] = []
  const turn = new Turn(error => met.push(error))
  const fail = (why: string) => () => {
    throw why
  }
  turn.write({ flush: fail('frame') })
  turn.write({ flush: () => done.push('frame') })
  turn.answer(fail('answer'))
  turn.answer(() => done.push('answer'))
  turn.end()
  t.same(done, ['frame', 'answer'], 'frames first')
  t.same(met, ['frame', 'answer'])
})

t.test('a frame for a connection that was written already leaves with the next turn', t => {
  const written: string[] = []
  const turn = new Turn(t.error)
  const early = { frames: ['one'], flush: () => written.push(...early.frames.splice(0)) }
  const late = {
    // One that has to be closed is told of to those that stay.
    flush() {
      early.frames.push('two')
      turn.write(early)
    }
  }
  turn.write(early)
  turn.write(late)
  turn.end()
  turn.end()
  t.same(written, ['one', 'two'])
  t.end()
})
