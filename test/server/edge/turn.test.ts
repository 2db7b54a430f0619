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
