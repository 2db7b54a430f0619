import t from 'tap'
import { type NotificationSettings, notificationSettings } from '../../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../../lib/schema.ts'
import { alertFor } from '../../../../web/model/notifications/in-app-alert.ts'
import { alerts } from '../../../../web/words/alerts.ts'

const now = 1_700_000_000_000

function alertOf(kind: string, settings: Partial<NotificationSettings> = {}) {
  const given = { decision: 'sound', finished: 'sound', failed: 'sound', ...settings }
  return alertFor({ sessionId: 's1', kind }, 'Pears', v.parse(notificationSettings, given), now)
}

t.test('an alert says what happened in which session, and leads to it', async t => {
  const words = alerts.alert
  for (const kind of ['permission', 'question', 'done', 'error', 'failed', 'silent'] as const) {
    t.strictSame(alertOf(kind), { title: words[kind], body: 'Pears', path: '/s/s1', isSilent: false }, kind)
  }
  t.equal(
    alertFor({ sessionId: 's1', kind: 'done' }, undefined, v.parse(notificationSettings, {}), now)?.body,
    '',
    'a session that is not known'
  )
  for (const kind of ['settled', 'of a later version', 'toString']) t.equal(alertOf(kind), undefined, kind)
})

t.test('an alert follows the settings of notifications', async t => {
  const rows: [string, Partial<NotificationSettings>, 'sound' | 'silent' | 'none'][] = [
    ['permission', { decision: 'silent' }, 'silent'],
    ['question', { decision: 'silent' }, 'silent'],
    ['permission', { finished: 'off', failed: 'off' }, 'sound'],
    ['done', { finished: 'silent' }, 'silent'],
    ['done', { finished: 'off' }, 'none'],
    ['done', { decision: 'silent', failed: 'off' }, 'sound'],
    ['failed', { failed: 'silent' }, 'silent'],
    ['error', { failed: 'off' }, 'none'],
    ['silent', { decision: 'silent', finished: 'off' }, 'sound'],
    ['permission', { sessions: { s1: 'decisions' } }, 'sound'],
    ['question', { sessions: { s1: 'decisions' } }, 'sound'],
    ['done', { sessions: { s1: 'decisions' } }, 'none'],
    ['failed', { sessions: { s1: 'decisions' } }, 'none'],
    ['permission', { sessions: { s1: 'off' } }, 'none'],
    ['permission', { sessions: { s2: 'off' } }, 'sound'],
    ['permission', { snoozedUntil: now + 1 }, 'none'],
    ['permission', { snoozedUntil: now }, 'sound']
  ]
  for (const [kind, settings, how] of rows) {
    const alert = alertOf(kind, settings)
    t.equal(alert ? (alert.isSilent ? 'silent' : 'sound') : 'none', how, `${kind} ${JSON.stringify(settings)}`)
  }
})
