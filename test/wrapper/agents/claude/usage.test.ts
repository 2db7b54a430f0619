import t from 'tap'
import { claudeWindows } from '../../../../lib/wrapper/agents/claude/usage.ts'

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
