import t from 'tap'
import { createGone, createNumbers } from '../../../lib/client/sealed/numbers.ts'

t.test('the messages of a sender are numbered from one, and the next names those that will not come', t => {
  const numbers = createNumbers('s1')
  const [one, two] = [numbers.next('a'), numbers.next('b')]
  t.match(
    [one, two],
    [
      { number: 1, session: 's1' },
      { number: 2, session: 's1' }
    ]
  )
  t.equal(one.sender, two.sender)
  t.match(one.sender, /^[a-z0-9]{24}$/)
  t.not(createNumbers('s1').next('a').sender, one.sender)
  t.notOk('gone' in two)
  numbers.giveUp(two)
  const three = numbers.next('c')
  t.strictSame(three, { sender: one.sender, number: 3, session: 's1', gone: [{ sender: one.sender, number: 2 }] })
  numbers.giveUp(three)
  t.strictSame(
    numbers.next('d').gone,
    [2, 3].map(number => ({ sender: one.sender, number })),
    'what it would have said was not said either'
  )
  t.notOk('gone' in numbers.next('e'), 'said once')
  t.end()
})

t.test('of very many withdrawn numbers the last five hundred are announced', t => {
  const gone = createGone()
  t.strictSame(gone.take(), {})
  for (let number = 1; number <= 501; number++) gone.add({ sender: 'a', number })
  const numbers = gone.take().gone?.map(({ number }) => number)
  t.strictSame([numbers?.length, numbers?.[0], numbers?.at(-1)], [500, 2, 501])
  t.strictSame(gone.take(), {})
  t.end()
})
