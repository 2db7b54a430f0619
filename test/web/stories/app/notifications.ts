import { notificationSettings } from '../../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../../lib/schema.ts'
import type { Channel, NotificationSettings } from '../../../../web/model/notifications/notifications.ts'
import type { AppStory } from './app-story.ts'
import { at } from './at.ts'
import { type ServerResponses, server } from './responses.ts'
import { homeOf, machines, moving, resting } from './world.ts'

const minute = 60_000
const now = Date.now()

type Sent = Channel['health']['last'][number]

const arrived = (ago: number, ms: number): Sent => ({
  ...{ at: now - ago * minute, kind: 'permission', outcome: 'arrived', reason: null, arrivedAfterMs: ms }
})
const without = (ago: number, outcome: Sent['outcome'] = 'accepted', reason: string | null = null): Sent => ({
  ...{ at: now - ago * minute, kind: 'permission', outcome, reason, arrivedAfterMs: null }
})
const many = [1300, 1900, 1000, 2600, 1500, 3100, 1200, 1100, 1600, 1400, 2900, 1300, 1500, 1400, 1100, 2000, 1300, 1200, 1500, 1200]
const all = many.map((ms, index) => arrived(3 + index * 70, ms))

const channel = (id: string, given: Partial<Channel>): Channel => ({
  ...{ id, kind: 'web-push', isOwn: false, device: 'Tablet', createdAt: now - 40 * 24 * 60 * minute, updatedAt: now - 60 * minute },
  ...{ acknowledges: true, health: { sent: 0, arrived: 0, typicalMs: null, slowestMs: null, last: [] } },
  ...given
})

const healthy = { sent: 41, arrived: 41, typicalMs: 1300, slowestMs: 3100, last: all }
const here = channel('c1', { isOwn: true, device: 'Chrome on Android', health: healthy })
const tablet = channel('c2', { health: { sent: 9, arrived: 9, typicalMs: 1700, slowestMs: 2100, last: all.slice(0, 9) } })
const deaf = {
  ...tablet,
  health: { ...tablet.health, arrived: 3, last: [without(5), without(50), ...all.slice(4, 7)] }
}
const ntfy = channel('c3', {
  ...{ kind: 'ntfy', isOwn: true, acknowledges: false },
  health: { sent: 12, arrived: 0, typicalMs: null, slowestMs: null, last: [without(12)] }
})
const hook = channel('c4', {
  ...{ kind: 'webhook', device: 'studio-mini', acknowledges: false },
  health: {
    sent: 0,
    arrived: 0,
    typicalMs: null,
    slowestMs: null,
    last: [without(30, 'refused', 'address not allowed'), without(90, 'expired')]
  }
})
const missed = channel('c1', {
  ...{ isOwn: true, device: 'Chrome on Android' },
  health: {
    sent: 9,
    arrived: 6,
    typicalMs: 1400,
    slowestMs: 3100,
    last: [without(8), without(41), ...all.slice(3, 9), without(1800), arrived(2000, 900)]
  }
})

const defaults = v.parse(notificationSettings, { timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone })
const night = { from: '22:30', to: '07:00', days: [1, 2, 3, 4, 5, 6, 7], keep: 'decisions' as const, collectAt: '07:00' }
const chosen: NotificationSettings = { ...defaults, previews: true, quiet: night, escalation: { afterMinutes: 5, to: ['c3'] } }

const told = (
  channels: readonly Channel[],
  settings: Partial<NotificationSettings> = {},
  more: ServerResponses = {}
): Partial<AppStory> => ({
  reach: 'on',
  server: {
    ...server,
    readNotifications: { settings: { ...chosen, ...settings }, channels: [...channels] },
    writeNotifications: { success: true },
    addPushToken: { success: true },
    ...more
  }
})
const tried = (id: string, outcome: Sent['outcome'], reason: string | null = null): ServerResponses => ({
  testNotification: { channels: [{ id, outcome, reason }] }
})

const page = '/settings/notifications'
const usual = [here, tablet, ntfy]
const off = { ...told([tablet], { quiet: null, escalation: null, previews: false }) }

/** Notifications in every state. */
export const notifications: Readonly<Record<string, AppStory>> = {
  notifications: at(page, told(usual)),
  'notifications-missing': at(page, told([missed, deaf, hook])),
  'notifications-untried': at(page, told([channel('c1', { isOwn: true })], { quiet: null, escalation: null })),
  'notifications-registering': at(page, told([])),
  'notifications-off': at(page, { ...off, reach: 'undetermined' }),
  'notifications-denied': at(page, { ...off, reach: 'denied' }),
  'notifications-home-screen': at(page, { ...off, reach: 'needs-home-screen' }),
  'notifications-unsupported': at(page, { ...off, reach: 'unsupported' }),
  'notifications-snoozed': at(page, told(usual, { snoozedUntil: now + 50 * minute })),
  'notifications-locked': at(page, { ...told(usual), kept: { 'afield-lock': '{"choice":"after5","id":"AAAA"}' } }),
  'notifications-allow': at(page, { ...told(usual), press: ['Allow once'] }),
  'notifications-saving': at(page, {
    ...{ reach: 'on', press: ['Notify anyway'] },
    server: { ...server, readNotifications: { settings: chosen, channels: usual } }
  }),
  'notifications-saved': at(page, { ...told(usual), press: ['Notify anyway', 'see Saved'] }),
  'notifications-unsaved': at(page, { ...told(usual, {}, { writeNotifications: 503 }), press: ['Notify anyway', 'see Not saved yet'] }),
  'notifications-refused': at(page, {
    ...told(usual, {}, { writeNotifications: 400 }),
    press: ['Notify anyway', 'see The server rejected this']
  }),
  'notifications-waiting': at(page, { reach: 'on', server: {} }),
  'notifications-offline': at(page, {
    ...told(usual, {}, { readNotifications: 503 }),
    link: { isOnline: false, socket: 'none', feed: 'away' },
    press: ['see could not be loaded']
  }),
  'notifications-untold': at(page, { ...told(usual, {}, { readNotifications: 404 }), press: ['see A newer version of Afield'] }),
  'notifications-tested': at(page, {
    ...told(
      [channel('c1', { isOwn: true, health: { ...healthy, last: [{ ...arrived(0, 1200), kind: 'test' }, ...all] } })],
      {},
      tried('c1', 'accepted')
    ),
    press: ['Send a test', 'see Shown after']
  }),
  'notifications-testing': at(page, { ...told(usual, {}, tried('c1', 'accepted')), press: ['Send a test', 'see Waiting for it'] }),
  'notifications-test-failed': at(page, { ...told(usual, {}, tried('c1', 'gone')), press: ['Send a test', 'see no longer exists'] }),
  'notifications-remove': at(`${page}/c3`, { ...told(usual), press: ['Remove', 'see Adding it again'] }),
  'notifications-tablet': at(`${page}/c2`, told(usual)),
  'notifications-tablet-missing': at(`${page}/c2`, told([here, { ...missed, ...{ id: 'c2', isOwn: false, device: 'Tablet' } }])),
  'notifications-ntfy': at(`${page}/c3`, told(usual)),
  'notifications-webhook': at(`${page}/c4`, told([...usual, hook])),
  'notifications-gone': at(`${page}/c9`, told(usual)),
  quiet: at('/settings/quiet', told(usual)),
  'quiet-collect': at('/settings/quiet', told(usual, { quiet: { ...night, days: [1, 2, 3, 5], keep: 'collect' } })),
  'quiet-off': at('/settings/quiet', told(usual, { quiet: null })),
  unanswered: at(`${page}/unanswered`, told(usual)),
  'unanswered-off': at(`${page}/unanswered`, told(usual, { escalation: null })),
  'unanswered-order': at(`${page}/unanswered`, told([...usual, hook], { escalation: { afterMinutes: 5, to: ['c4', 'c3'] } })),
  'unanswered-nobody': at(`${page}/unanswered`, told([here])),
  ntfy: at(`${page}/ntfy`, told(usual)),
  'ntfy-own': at(`${page}/ntfy`, { ...told(usual), press: ['My own'] }),
  'ntfy-added': at(`${page}/ntfy`, { ...told(usual, {}, tried('c3', 'accepted')), press: ['Add and', 'see It should appear'] }),
  'ntfy-not-allowed': at(`${page}/ntfy`, {
    ...told(usual, {}, tried('c3', 'refused', 'address not allowed')),
    press: ['Add and', 'see push-allow']
  }),
  'ntfy-refused': at(`${page}/ntfy`, { ...told(usual, {}, { addPushToken: 400 }), press: ['Add and', 'see cannot use'] }),
  webhook: at(`${page}/webhook`, told(usual)),
  'webhook-added': at(`${page}/webhook`, {
    ...told([here, { ...hook, isOwn: true }], {}, tried('c4', 'accepted')),
    press: ['type https://home.example/api/webhook/a-name-that-nobody-guesses', 'Add and', 'see It should appear']
  }),
  'session-notifications': at(`/s/${moving[0]?.id}`, {
    ...told(usual, { sessions: { [moving[0]?.id ?? '']: 'decisions' } }),
    press: ['Session menu', 'Notifications']
  }),
  'home-unreached': at('/', told([missed])),
  'home-permission-prompt': at('/', { reach: 'undetermined' }),
  'home-permission-prompt-quiet': at('/', { home: homeOf(machines, resting), reach: 'undetermined' }),
  'home-ask-home-screen': at('/', { home: homeOf(machines, resting), reach: 'needs-home-screen' }),
  'home-alert': at('/', {
    alert: { title: 'Run a command? orchard-api', body: 'npm run build -- --mode staging', path: '/', isSilent: true }
  })
}
