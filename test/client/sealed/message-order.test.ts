import t from 'tap'
import { createOrder } from '../../../lib/client/sealed/message-order.ts'

const by = (number: number, gone: number[] = [], sender = 'a') => ({
  sender,
  number,
  ...(gone.length > 0 && { gone: gone.map(number => ({ sender, number })) })
})

t.test('consecutive numbers are in place, for each sender separately [W13]', async t => {
  const order = createOrder(true)
  for (const number of [1, 2, 3]) t.strictSame(order.take(by(number)), { type: 'next' })
  t.strictSame(order.take(by(1, [], 'b')), { type: 'next' })
  t.strictSame(order.take(by(4)), { type: 'next' })
})

t.test('a known number is repeated, a skipped one that arrives is late, and until then it is missing [W13]', async t => {
  const order = createOrder(true)
  t.strictSame(order.take(by(2)), { type: 'after-gap', numbers: [1] }, 'the first of a session heard from its beginning is 1')
  t.strictSame(order.take(by(5)), { type: 'after-gap', numbers: [3, 4] })
  t.ok(order.isMissing(by(3)))
  t.strictSame(order.take(by(3)), { type: 'late' })
  t.notOk(order.isMissing(by(3)))
  t.strictSame(order.take(by(3)), { type: 'repeated' })
  t.strictSame(order.take(by(5)), { type: 'repeated' })
})

t.test('a withdrawn number does not count as missing, whether announced before or after [W13]', async t => {
  const order = createOrder(true)
  order.take(by(1))
  t.strictSame(order.take(by(4, [2, 3])), { type: 'next' }, 'said with the one behind it')
  t.strictSame(order.take(by(6)), { type: 'after-gap', numbers: [5] })
  t.strictSame(order.take(by(7, [5])), { type: 'next' })
  t.notOk(order.isMissing(by(5)), 'said later')
  t.strictSame(order.take(by(5)), { type: 'next' }, 'one that was stored although nobody heard so')
})

t.test('without a known start, the first number of a sender is accepted [W13]', async t => {
  const order = createOrder(false)
  t.strictSame(order.take(by(57)), { type: 'next' })
  t.strictSame(order.take(by(5)), { type: 'repeated' }, 'but one before it does not come after it')
  const copy = order.copy()
  copy.take(by(58))
  t.strictSame(order.take(by(58)), { type: 'next' }, 'a copy goes its own way')
})

t.test('an impossibly high number does not create an endless list [W13]', async t => {
  const place = createOrder(true).take(by(2_000_000_000))
  t.ok(place.type === 'after-gap' && place.numbers.length === 1000)
})
