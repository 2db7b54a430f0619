import { effect } from '@preact/signals'
import { type NotificationSettings, notificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../lib/schema.ts'
import { isStale } from '../../core/connection.ts'
import { deviceDb } from '../../core/device-db.ts'
import { lockChoice } from '../../core/lock.ts'
import { route } from '../../core/router.ts'
import { language } from '../../words/language.ts'
import type { Live } from '../account/live.ts'
import { setWatchedMinutes, watchedForMs } from '../account/user-activity.ts'
import { home } from '../home.ts'
import { titleOf } from '../sessions.ts'
import { alertFor, type LiveNotice } from './in-app-alert.ts'
import { type NotificationBook, notificationsOf } from './notifications.ts'
import { closeAnswered, closeNotice, closeOfSession } from './open-notifications.ts'
import { sendReceipts } from './push-receipts.ts'
import { say } from './worker-requests.ts'
import { changeWorkerSettings, type WorkerSettings } from './worker-settings.ts'

/** The page's part of notifications, while they are on for this device. Returns a function that stops it. */
export function startPageNotifications(link: Live, registration: ServiceWorkerRegistration): () => void {
  const book = notificationsOf(link)
  void book.read()
  const closeHere = () => {
    const at = route.value
    if (at.name === 'session' && document.visibilityState === 'visible') void closeOfSession(registration, at.id)
  }
  document.addEventListener('visibilitychange', closeHere)
  const ends = [
    link.socket.onEphemeral(event => {
      if (event.type !== 'notice') return
      if (event.kind === 'settled') void closeNotice(registration, event.noticeId)
      else alertOf(event, settingsIn(book))
    }),
    effect(() => {
      if (book.reading.value.type === 'loaded') setWatchedMinutes(settingsIn(book).watchedMinutes)
    }),
    effect(() => tellWorker({ isLocked: lockChoice.value !== 'off', language })),
    effect(closeHere),
    effect(() => {
      if (isStale.value) return
      void closeAnswered(registration)
      void tellReceipts(link)
    }),
    () => document.removeEventListener('visibilitychange', closeHere)
  ]
  return () => {
    for (const end of ends) end()
  }
}

// Unknown settings have their defaults.
function settingsIn({ reading }: Pick<NotificationBook, 'reading'>): NotificationSettings {
  return reading.value.type === 'loaded' ? reading.value.settings : usualSettings
}

const usualSettings = v.parse(notificationSettings, {})

/** The app is in use, but does not show the session. Without a recent touch, a push is sent instead. */
function alertOf(notice: LiveNotice, settings: NotificationSettings): void {
  const at = route.peek()
  const isSeen = at.name === 'session' && at.id === notice.sessionId
  if (document.visibilityState !== 'visible' || watchedForMs() === 0 || isSeen) return
  const session = home.peek().sessions.get(notice.sessionId)
  const alert = alertFor(notice, session && titleOf(session), settings, Date.now())
  if (alert) say(alert)
}

function tellWorker(choices: Partial<WorkerSettings>): void {
  deviceDb()
    .then(db => changeWorkerSettings(db, choices))
    .catch(() => {})
}

/** For pushes that arrived while the server was unreachable. */
async function tellReceipts({ rest }: Pick<Live, 'rest'>): Promise<void> {
  await deviceDb()
    .then(db => sendReceipts({ rest, db }))
    .catch(() => {})
}
