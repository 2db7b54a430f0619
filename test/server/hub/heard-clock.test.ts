import fc from 'fast-check'
import t from 'tap'
import type { BusEvent } from '../../../lib/bus/bus.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { HeardClock } from '../../../lib/server/hub/heard-clock.ts'

type Heard = Extract<BusEvent, { type: 'change' | 'large-change' }>

const session = v.parse(ids.sessionId, 's')

/** Messages whose updates end with this clock, as others see them or by reference. */
function added(clock: number, updates: number, isLarge: boolean): Heard {
  const event = { clock, at: 1, audience: 'apps' } as const
  const message = (seq: number) => ({ seq, localId: null, sealed: v.parse(ids.sealed, 'x'), createdAt: 1 })
  if (isLarge) return { ...event, type: 'large-change', stored: { type: 'messages-added', session, first: 5, last: 4 + updates } }
  const messages = Array.from({ length: updates }, (_, at) => message(5 + at))
  return { ...event, type: 'change', change: { type: 'messages-added', session, messages } }
}

t.test('everything below the first gap counts as heard, in whatever order and how often it comes [M2] [O4]', async () => {
  const lengths = fc.array(fc.record({ updates: fc.integer({ min: 1, max: 4 }), isLarge: fc.boolean() }), { minLength: 1, maxLength: 12 })
  const script = lengths.chain(lengths => {
    const heard = fc.array(fc.nat(lengths.length - 1), { maxLength: 30 })
    return fc.record({ lengths: fc.constant(lengths), heard, began: fc.nat(30), knownAt: fc.nat(31) })
  })
  fc.assert(
    fc.property(script, ({ lengths, heard, began, knownAt }) => {
      const ends = lengths.map((_, at) => lengths.slice(0, at + 1).reduce((sum, { updates }) => sum + updates, 0))
      const clock = new HeardClock()
      const has = new Set(Array.from({ length: began }, (_, at) => at + 1))
      for (const [step, at] of [...heard, 0].entries()) {
        if (step === Math.min(knownAt, heard.length)) clock.readTo(began)
        const { updates, isLarge } = lengths[at] ?? { updates: 1, isLarge: false }
        const end = ends[at] ?? 1
        clock.hear(added(end, updates, isLarge))
        for (let each = end - updates + 1; each <= end; each += 1) has.add(each)
      }
      let expected = began
      while (has.has(expected + 1)) expected += 1
      return clock.upTo === expected
    })
  )
})

t.test('only what was stored at the look before counts as missed [M2]', async t => {
  const clock = new HeardClock()
  t.equal(clock.look(3), 'unknown', 'nobody said yet what the clients have')
  clock.readTo(3)
  t.equal(clock.look(5), 'nothing missed', 'they may be on their way')
  clock.hear(added(4, 1, false))
  t.equal(clock.look(9), 'missed', 'the other one did not come')
  clock.readTo(9)
  for (let stored = 10; stored < 20; stored += 1) {
    t.equal(clock.look(stored), 'nothing missed', 'of an account that is always written to')
    clock.hear(added(stored, 1, false))
  }
})
