import t from 'tap'
import { createSkippedMessages } from '../../../lib/wrapper/session/skipped-messages.ts'
import { manualClock } from '../../kit/manual-clock.ts'

t.test('every message that cannot be read, or is of an unknown kind, is reported once', t => {
  const clock = manualClock()
  const said: string[] = []
  const skipped = createSkippedMessages({ say: text => said.push(text), clock })
  const told = () => {
    clock.advance(2000)
    return said.splice(0)
  }
  skipped.add('unreadable', 3)
  t.same(told(), ['Message 3 was left out: it is damaged, or was encrypted with another key.'])
  for (const seq of [4, 6, 6, 7]) skipped.add('unreadable', seq)
  skipped.add('unknown-shape', 5)
  t.same(told(), [
    'Messages 4, 6 and 7 were left out: they are damaged, or were encrypted with another key.',
    'Message 5 was left out: Afield on this computer does not know its kind. A newer version may.'
  ])
  t.same(told(), [])
  for (let seq = 10; seq < 110; seq++) skipped.add('unreadable', seq)
  skipped.finish()
  t.match(said, [/^Messages 10, 11, .* 29 and 80 more were left out/])
  t.equal(said.length, 1)
  t.end()
})
