import type { MissCause } from '../model/notifications/channel-health.ts'
import { isMobile } from '../model/notifications/notification-permission.ts'
import { notifications as words } from '../words/notifications.ts'

/** The likely reason why notifications do not arrive here, and what to do about it. */
export function causeHere(cause: MissCause): readonly [string, string] {
  if (cause === 'gone') return words.causesHere.gone
  if (cause !== 'held-back') return words.causesHere.others
  const at = browser()
  return words.causesHere[at === 'safari' ? 'computer' : at]
}

/** The browsers that have their own steps. */
export function browser(): 'android' | 'ios' | 'safari' | 'computer' {
  const { userAgent } = navigator
  if (/Android/.test(userAgent)) return 'android'
  if (isMobile()) return 'ios'
  return /Safari/.test(userAgent) && !/Chrom/.test(userAgent) ? 'safari' : 'computer'
}
