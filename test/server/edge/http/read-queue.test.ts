import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { ReadQueue } from '../../../../lib/server/edge/http/read-queue.ts'

function queueOf() {
  const errors: unknown[] = []
  const queue = new ReadQueue(error => void errors.push(error))
  const seen: string[] = []
  /** Holds the event loop until the slice of its turn is used up. */
  const long = (name: string) => async () => {
    const endsAt = performance.now() + 6
    while (performance.now() < endsAt);
    seen.push(name)
  }
  return { queue, seen, long, errors }
}

t.test('reads of one account wait for a turn of others between them [B3]', async t => {
  const { queue, seen, long } = queueOf()
  for (const number of [1, 2, 3]) queue.run('ada', long(`ada ${number}`))
  queue.run('bob', long('bob'))
  t.strictSame(seen, ['ada 1'], 'the first at once')
  while (seen.length < 4) {
    const before = seen.length
    await turnEnds()
    t.ok(seen.length <= before + 1, 'each in a turn of its own')
  }
  t.strictSame(seen, ['ada 1', 'ada 2', 'bob', 'ada 3'])
})

t.test('a read that waits or fails keeps nobody else [B3]', async t => {
  const { queue, seen, long, errors } = queueOf()
  queue.run('ada', () => new Promise(() => {}))
  queue.run('bob', async () => {
    throw new Error('broken')
  })
  queue.run('eve', long('eve'))
  while (seen.length === 0) await turnEnds()
  t.match(errors, [{ message: 'broken' }])
})
