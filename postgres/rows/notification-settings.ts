import { type NotificationSettings, notificationSettings } from '../../lib/protocol/wire/notifications.ts'
import * as v from '../../lib/schema.ts'

// Parsed on arrival; again here, so that settings of a later version that was rolled back become the defaults.
export function settingsOf(text: string | null): NotificationSettings | null {
  if (text === null) return null
  const read = v.safeParse(notificationSettings, JSON.parse(text))
  return read.success ? read.data : null
}
