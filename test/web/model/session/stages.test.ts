import { mock } from 'node:test'
import { signal } from '@preact/signals'
import t from 'tap'
import type { SessionFacts } from '../../../../web/model/session/facts.ts'
import { watchStages } from '../../../../web/model/session/stages.ts'

t.test('a message has a time for each stage that it reached while the session was open', async t => {
  mock.timers.enable({ apis: ['Date'], now: 1_000 })
  t.teardown(() => mock.timers.reset())
  const facts = signal<SessionFacts | undefined>(undefined)
  const reach = (at: number, deliveredSeq: number | undefined, readSeq: number | undefined) => {
    mock.timers.setTime(at)
    facts.value = { deliveredSeq, readSeq } as unknown as SessionFacts
  }
  const stages = watchStages(facts)
  t.same(stages.of(1), { machineAt: undefined, readAt: undefined })
  reach(2_000, 3, undefined)
  t.same(stages.of(3), { machineAt: undefined, readAt: undefined }, 'it was there before')
  t.same(stages.of(4), { machineAt: undefined, readAt: undefined }, 'not yet')
  reach(3_000, 5, 2)
  reach(4_000, 5, 4)
  reach(5_000, 4, 4)
  reach(6_000, 7, 7)
  t.same(
    [2, 3, 4, 5, 6, 7, 8].map(seq => [stages.of(seq).machineAt, stages.of(seq).readAt]),
    [
      [undefined, undefined],
      [undefined, 4_000],
      [3_000, 4_000],
      [3_000, 6_000],
      [6_000, 6_000],
      [6_000, 6_000],
      [undefined, undefined]
    ]
  )
  stages.close()
  reach(7_000, 8, 8)
  t.same(stages.of(8), { machineAt: undefined, readAt: undefined }, 'closed')
})
