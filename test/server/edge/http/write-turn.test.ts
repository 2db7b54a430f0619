import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { WriteTurn } from '../../../../lib/server/edge/http/write-turn.ts'

t.test('a failure on one connection does not keep others from their data', async t => {
  const met: unknown[] = []
  const done: string[] = []
  const turn = new WriteTurn(error => met.push(error))
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

t.test('a frame for a connection already written in this turn is sent in the next', t => {
  const written: string[] = []
  const turn = new WriteTurn(t.error)
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

t.test('pieces take turns: a fixed number per turn of the event loop, in order of request, and answers do not wait for them', async t => {
  const done: number[] = []
  const turn = new WriteTurn(t.error)
  for (let number = 0; number < 80; number += 1) turn.piece(() => done.push(number))
  turn.answer(() => done.push(-1))
  await turnEnds()
  t.same(done, [-1, ...Array.from({ length: 32 }, (_, number) => number)])
  while (done.length < 81) await turnEnds()
  t.same(
    done.slice(1),
    Array.from({ length: 80 }, (_, number) => number)
  )
})
