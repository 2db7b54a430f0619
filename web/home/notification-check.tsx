import { useEffect } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { connection } from '../core/connection.ts'
import type { Live } from '../model/account/live.ts'
import { healthOf } from '../model/notifications/channel-health.ts'
import { areNotificationsOn, isMobile } from '../model/notifications/device-notifications.ts'
import { isOutOfDate, notificationsOf } from '../model/notifications/notifications.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { notifications as words } from '../words/notifications.ts'

/**
 * Whenever the app is live again, checks whether notifications reach this device, and reports if they do not. Not in a warm colour: on Home that
 * is reserved for waiting agents.
 */
export function NotificationCheck({ link }: { link: Live }) {
  const book = notificationsOf(link)
  const isAsked = areNotificationsOn.value && connection.value.type === 'live'
  useEffect(() => {
    if (!isAsked) return
    void book.read().then(() => {
      const reading = book.reading.peek()
      // The person moved to another time zone, chose another language or locked the app.
      if (reading.type === 'loaded' && isOutOfDate(reading.settings)) return book.change(() => ({}))
      return undefined
    })
  }, [book, isAsked])
  const reading = book.reading.value
  const own = reading.type === 'loaded' ? reading.channels.find(({ isOwn, kind }) => isOwn && kind === 'web-push') : undefined
  if (!areNotificationsOn.value || !own || healthOf(own, now.value).state !== 'missing') return null
  return (
    <section class="card key-ask" aria-labelledby="unreached-h">
      <Icon name="bell-off" />
      <div>
        <h2 id="unreached-h" class="card-h">
          {words.homeMissing[isMobile() ? 'phone' : 'computer']}
        </h2>
        <p>{words.lastTwoMissed}</p>
      </div>
      <div class="acts">
        <ButtonLink look="quiet" href="/settings/notifications">
          {words.homeMissingWhy}
        </ButtonLink>
      </div>
    </section>
  )
}
