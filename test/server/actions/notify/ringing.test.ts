import t from 'tap'
import { type NotificationSettings, notificationSettings, type RingKind, ringKind } from '../../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../../lib/schema.ts'
import { ringingOf } from '../../../../lib/server/actions/notify/ringing.ts'

const settings = (more: Partial<NotificationSettings> = {}) => v.parse(notificationSettings, { timeZone: 'Europe/Berlin', ...more })
// Thursday, 14:00 in Berlin.
const noon = Date.parse('2026-01-15T13:00:00Z')
const at = (berlin: string) => Date.parse(`${berlin}:00+01:00`)
const ring = (kind: RingKind, of: NotificationSettings | null, now = noon, session = 's') => {
  const ringing = ringingOf(of, { kind, session }, now)
  if (!ringing.rings) return ringing.why
  return ringing.isCollected ? `collected until ${new Date(ringing.at).toISOString()}` : ringing.isSilent ? 'silent' : 'sound'
}

t.test('each kind notifies as chosen on its device, decisions always', async t => {
  for (const kind of ringKind.options) t.equal(ring(kind, null), 'sound', `${kind} on a device that never said anything`)
  const quiet = settings({ decision: 'silent', finished: 'off', failed: 'off', machine: 'off' })
  const expected = { permission: 'silent', question: 'silent', device: 'sound', test: 'sound' } as Partial<Record<RingKind, string>>
  for (const kind of ringKind.options) t.equal(ring(kind, quiet), expected[kind] ?? 'off', kind)
  t.throws(() => v.parse(notificationSettings, { decision: 'off' }))
})

t.test('a session can be limited to decisions, or muted', async t => {
  const one = settings({ sessions: { s: 'decisions', other: 'off' } })
  t.same([ring('done', one), ring('permission', one), ring('question', one)], ['session', 'sound', 'sound'])
  t.same([ring('permission', one, noon, 'other'), ring('done', one, noon, 'third')], ['session', 'sound'])
})

t.test('while snoozed only a test notification arrives', async t => {
  const snoozed = settings({ snoozedUntil: noon + 1 })
  t.same([ring('permission', snoozed), ring('permission', snoozed, noon + 1), ring('test', snoozed)], ['snoozed', 'sound', 'sound'])
})

t.test('quiet hours use the time zone, may pass midnight, and belong to the day they begin', async t => {
  const hours = { from: '22:00', to: '07:00', days: [4], keep: 'nothing' as const, collectAt: '07:00' }
  const table: [string, string][] = [
    ['2026-01-15T21:59', 'sound'],
    ['2026-01-15T22:00', 'quiet'],
    ['2026-01-16T06:59', 'quiet'],
    ['2026-01-16T07:00', 'sound'],
    ['2026-01-16T22:00', 'sound'],
    ['2026-01-15T06:00', 'sound']
  ]
  for (const [time, expected] of table) t.equal(ring('permission', settings({ quiet: hours }), at(time)), expected, time)
  const byDay = settings({ quiet: { ...hours, from: '12:00', to: '15:00' } })
  t.same(
    [ring('done', byDay), ring('done', byDay, at('2026-01-15T15:00')), ring('done', byDay, at('2026-01-14T13:00'))],
    ['quiet', 'sound', 'sound']
  )
  const allDay = settings({ quiet: { ...hours, from: '00:00', to: '00:00' } })
  t.same([ring('done', allDay), ring('done', allDay, at('2026-01-16T00:00'))], ['quiet', 'sound'])
})

t.test('quiet hours let decisions through silently, or hold them until they end', async t => {
  const hours = { from: '22:00', to: '07:00', days: [1, 2, 3, 4, 5, 6, 7], collectAt: '07:30' }
  const night = at('2026-01-15T23:10')
  const decisions = settings({ quiet: { ...hours, keep: 'decisions' } })
  t.same([ring('permission', decisions, night), ring('done', decisions, night)], ['silent', 'quiet'])
  const collect = settings({ quiet: { ...hours, keep: 'collect' } })
  const morning = `collected until ${new Date(at('2026-01-16T07:30')).toISOString()}`
  t.same([ring('permission', collect, night + 12_345), ring('done', collect, at('2026-01-16T06:00'))], [morning, morning])
})
