import type { NotificationSettings } from '../model/notifications/notifications.ts'
import { locale } from '../words/language.ts'
import { lists } from '../words/lists.ts'
import { notifications as words } from '../words/notifications.ts'

type Quiet = NonNullable<NotificationSettings['quiet']>

/** Monday is 1. */
export const days = [1, 2, 3, 4, 5, 6, 7]

/** The value of the row that leads to the quiet hours. */
export function quietSummary({ quiet }: NotificationSettings): { title: string; text?: string } {
  if (quiet === null) return { title: words.quietOff }
  const when = quiet.from === quiet.to ? words.quietAllDay : words.quietFromTo(quiet.from, quiet.to)
  return { title: `${when}${lists.comma}${daysInWords(quiet.days)}`, text: keepWords(quiet, quiet.keep) }
}

export function keepWords({ collectAt }: Quiet, keep: Quiet['keep']): string {
  return keep === 'collect' ? words.keep.collect(collectAt) : words.keep[keep]
}

function daysInWords(chosen: readonly number[]): string {
  const sorted = days.filter(day => chosen.includes(day)).join('')
  if (sorted === '1234567') return words.everyDay
  if (sorted === '12345') return words.weekdays
  if (sorted === '67') return words.weekend
  return new Intl.ListFormat(locale(), { type: 'unit' }).format([...sorted].map(day => weekdayName(Number(day), 'short')))
}

// 1 January 2024 was a Monday.
export function weekdayName(day: number, weekday: 'short' | 'long'): string {
  return new Intl.DateTimeFormat(locale(), { weekday, timeZone: 'UTC' }).format(Date.UTC(2024, 0, day))
}
