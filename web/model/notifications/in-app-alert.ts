import type { NotificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import type { Alert } from '../../core/worker-messages.ts'
import { alerts } from '../../words/alerts.ts'

/** A notice as the server sends it to connected apps; it is sent once. */
export interface LiveNotice {
  readonly sessionId: string
  readonly kind: string
}

/** The alert to show while the app is in use, by the same settings as a notification; undefined for none. */
export function alertFor(
  { sessionId, kind }: LiveNotice,
  title: string | undefined,
  settings: NotificationSettings,
  now: number
): Alert | undefined {
  const words = isKnown(kind) ? alerts.alert[kind] : undefined
  const isDecision = kind === 'permission' || kind === 'question'
  const chosen = settings.sessions[sessionId]
  const how = isDecision ? settings.decision : kind === 'done' ? settings.finished : settings.failed
  if (words === undefined || how === 'off' || chosen === 'off' || (chosen === 'decisions' && !isDecision)) return undefined
  if (now < (settings.snoozedUntil ?? 0)) return undefined
  return { title: words, body: title ?? '', path: `/s/${sessionId}`, isSilent: how === 'silent' }
}

function isKnown(kind: string): kind is keyof typeof alerts.alert {
  return Object.hasOwn(alerts.alert, kind)
}
