import t from 'tap'
import { coalesce } from '../../lib/async/coalesce.ts'

function gatedRuns() {
  const seen: string[] = []
  const gates: PromiseWithResolvers<void>[] = []
  const request = coalesce((last: string) => {
    seen.push(last)
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    return gate.promise
  })
  return { seen, gates, request }
}

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('the requests of one turn share one run, which sees the last of them', async t => {
  const { seen, gates, request } = gatedRuns()
  const first = request('a')
  const second = request('b')
  t.same(seen, [], 'not before the caller has finished its turn')
  await turn()
  t.same(seen, ['b'])

  gates[0]?.resolve()
  await Promise.all([first, second])
  t.same(seen, ['b'])
})

t.test('requests made while a run is under way share the next one; two runs never overlap', async t => {
  const { seen, gates, request } = gatedRuns()
  const first = request('a')
  await turn()
  const later = [request('b'), request('c')]
  await turn()
  t.same(seen, ['a'], 'the first run is not over')

  gates[0]?.resolve()
  await first
  await turn()
  t.same(seen, ['a', 'c'])
  gates[1]?.resolve()
  await Promise.all(later)
})

t.test('a promise settles with the run that saw the request, never with an earlier one', async t => {
  const { gates, request } = gatedRuns()
  const first = request('a')
  await turn()
  let isLaterDone = false
  const later = request('b').then(() => {
    isLaterDone = true
  })
  gates[0]?.resolve()
  await first
  await turn()
  t.notOk(isLaterDone)
  gates[1]?.resolve()
  await later
})

t.test('a failed run rejects for its waiters and does not stop the next run', async t => {
  const { seen, gates, request } = gatedRuns()
  const first = request('a')
  await turn()
  const second = request('b')
  gates[0]?.reject(new Error('away'))
  await t.rejects(first, { message: 'away' })
  await turn()
  gates[1]?.resolve()
  await t.resolves(second)
  t.same(seen, ['a', 'b'])
})

t.test('a run that throws synchronously is a failed run', async t => {
  const request = coalesce(() => {
    throw new Error('broken')
  })
  await t.rejects(request(undefined), { message: 'broken' })
})
