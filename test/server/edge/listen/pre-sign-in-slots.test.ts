import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { type PreSignInSlot, PreSignInSlots } from '../../../../lib/server/edge/listen/pre-sign-in-slots.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

t.test('a freed place is assigned in a separate turn, since it is freed during requests of others [N2]', async t => {
  const places = new PreSignInSlots({ limits: 'default' }, { clock: manualClock() })
  const given: (PreSignInSlot | undefined)[] = []
  while (given.length < 100) {
    const before = given.length
    places.enter(`10.0.${before}`, 'large', place => given.push(place))
    if (given.length === before) break
  }
  const held = given.length
  given[0]?.leave()
  t.equal(given.length, held)
  await turnEnds()
  t.equal(given.length, held + 1)
  t.ok(given.at(-1))
})
