import t from 'tap'
import { createLatestCalls } from '../../../lib/client/calls/latest-calls.ts'

t.test('a call is accepted once, and none before it after it', t => {
  const calls = createLatestCalls([['known', 5]])
  t.equal(calls.take('known', 5), false)
  t.equal(calls.take('known', 6), true)
  t.equal(calls.take('known', 6), false)
  t.equal(calls.take('new', 0), false)
  t.equal(calls.take('new', 1), true)
  t.same(
    [...calls.entries],
    [
      ['known', 6],
      ['new', 1]
    ]
  )
  t.end()
})

t.test('of more than a thousand choices the one that was used longest ago is forgotten', t => {
  const calls = createLatestCalls(Array.from({ length: 1000 }, (_, index) => [`choice ${index}`, 9] as const))
  calls.take('choice 0', 10)
  t.same([...createLatestCalls().entries], [], 'none is known at first')
  t.equal([...calls.entries].length, 1000, 'a known one needs no room')
  calls.take('another', 1)
  t.equal([...calls.entries].length, 1000)
  t.equal(calls.take('choice 0', 10), false, 'it was used since')
  t.equal(calls.take('choice 2', 9), false)
  t.equal(calls.take('choice 1', 1), true, 'forgotten')
  t.end()
})
