import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { claudeWindows, createUsage } from '../../../../lib/wrapper/agents/claude/usage.ts'

const reset = { five_hour: 1_788_465_600, seven_day: 1_789_005_600 }
const unifiedWindows = {
  five_hour: { utilization: 1, resetsAt: reset.five_hour },
  seven_day: { utilization: 0.496, resetsAt: reset.seven_day }
}
const hours = { minutes: 300, resetsAt: reset.five_hour * 1000 }
const week = { minutes: 10080, resetsAt: reset.seven_day * 1000 }

t.test('a Claude response reports the usage, and which window is exceeded', async t => {
  const told = { resetsAt: reset.five_hour, rateLimitType: 'five_hour' }
  const cases: readonly [what: string, told: unknown, windows: unknown][] = [
    ['of one window, without how much', { status: 'allowed', ...told }, [{ ...hours, isReached: false }]],
    [
      'of two, with how much',
      { status: 'allowed_warning', ...told, unifiedWindows },
      [
        { ...hours, usedPercent: 100, isReached: false },
        { ...week, usedPercent: 50, isReached: false }
      ]
    ],
    [
      'one is closed',
      { status: 'rejected', ...told, utilization: 1, unifiedWindows },
      [
        { ...hours, usedPercent: 100, isReached: true },
        { ...week, usedPercent: 50, isReached: false }
      ]
    ],
    [
      'one is closed, and what goes beyond it is paid for',
      { status: 'rejected', ...told, isUsingOverage: true },
      [{ ...hours, isReached: false }]
    ],
    ['a kind of which every object has one', { status: 'allowed', rateLimitType: 'constructor', resetsAt: 5 }, []],
    ['a kind that is not known', { status: 'allowed', rateLimitType: 'moon_phase', resetsAt: 5 }, []],
    [
      'of one model',
      { status: 'allowed', rateLimitType: 'seven_day_opus', utilization: 0.2 },
      [{ minutes: 10080, of: 'Opus', usedPercent: 20, isReached: false }]
    ],
    ['nothing', undefined, []],
    ['in a shape of the future', { status: 'allowed', rateLimitType: 7, unifiedWindows: 'none' }, []]
  ]
  for (const [what, told, windows] of cases) t.strictSame(claudeWindows(told), windows, what)
})

t.test('the size of a model is queried until it is known, and what was used is sent with it', async t => {
  const asked: string[] = []
  const sizes = new Map<string, PromiseWithResolvers<number | undefined>>()
  const events: AgentEvent[] = []
  const usage = createUsage(
    event => events.push(event),
    model => {
      asked.push(model)
      const size = Promise.withResolvers<number | undefined>()
      sizes.set(model, size)
      return size.promise
    }
  )
  await usage.settled()
  usage.take(5, 'deep')
  usage.take(6, 'deep')
  sizes.get('deep')?.resolve(100)
  await usage.settled()
  t.strictSame(events, [{ type: 'usage', used: 6, size: 100 }], 'the newest of it')
  usage.take(7, 'deep')
  t.strictSame(events.slice(1), [{ type: 'usage', used: 7, size: 100 }], 'at once')
  usage.take(8, 'quick')
  usage.take(9, 'deep')
  sizes.get('quick')?.resolve(50)
  await usage.settled()
  t.strictSame(events.slice(2), [{ type: 'usage', used: 9, size: 100 }], 'the other model is no longer used')
  usage.take(10, 'odd')
  sizes.get('odd')?.resolve(undefined)
  await usage.settled()
  t.equal(events.length, 3)
  t.strictSame(asked, ['deep', 'deep', 'quick', 'odd'])
})
