import { now, trueNow } from '../core/clock.ts'
import type { NotificationContext } from '../model/notifications/notifications.ts'
import { tomorrowMorning } from '../model/notifications/notifications.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { notifications as words } from '../words/notifications.ts'
import { clockTime } from '../words/time.ts'

const hourMs = 3600_000

/** Turns off notifications for a while, starting now. */
export function Snooze({ settings: { snoozedUntil }, book }: NotificationContext) {
  const snooze = (until: number | null) => void book.change(() => ({ snoozedUntil: until }))
  if (snoozedUntil !== null && snoozedUntil > now.value) {
    return (
      <div class="irow">
        <Icon name="moon-star" />
        <span>
          <b>{words.snoozed(clockTime(snoozedUntil, now.value))}</b>
          <small>{words.snoozeHint}</small>
        </span>
        <button class="txt" type="button" onClick={() => snooze(null)}>
          {words.snoozeEnd}
        </button>
      </div>
    )
  }
  return (
    <div class="irow device">
      <Icon name="moon-star" />
      <span>
        <b>{words.snooze}</b>
        <small>{words.snoozeHint}</small>
      </span>
      <span class="device-acts">
        <button class="txt" type="button" onClick={() => snooze(trueNow() + hourMs)}>
          {words.snoozeHour}
        </button>
        <button class="txt" type="button" onClick={() => snooze(tomorrowMorning(new Date(trueNow())))}>
          {words.snoozeTomorrow}
        </button>
      </span>
    </div>
  )
}
