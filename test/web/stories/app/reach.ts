import { turnOn } from '../../../../web/model/notifications/device-notifications.ts'
import { refreshReach } from '../../../../web/model/notifications/notification-permission.ts'
import { isWide } from '../../../../web/ui/behavior/width.ts'
import type { AppStory } from './app-story.ts'

const phones = {
  android: 'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
}

/** A browser that permits notifications or not; on a small screen, that of a phone. Call before there is a link. */
export async function pretend(reach: NonNullable<AppStory['reach']>): Promise<void> {
  const permission = reach === 'on' ? 'granted' : reach === 'undetermined' ? 'default' : 'denied'
  Object.defineProperty(Notification, 'permission', { get: () => permission })
  if (reach === 'unsupported') Reflect.deleteProperty(globalThis, 'PushManager')
  const phone = reach === 'needs-home-screen' ? phones.iphone : isWide.peek() ? undefined : phones.android
  if (phone !== undefined) Object.defineProperty(navigator, 'userAgent', { get: () => phone })
  // The app does not ask in an automated browser.
  Object.defineProperty(navigator, 'webdriver', { get: () => false })
  refreshReach()
  if (reach === 'on') await turnOn()
}
