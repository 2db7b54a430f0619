import type { Channel, NotificationContext, NotificationSettings } from '../model/notifications/notifications.ts'
import { locale } from '../words/language.ts'
import { notifications as words } from '../words/notifications.ts'
import { nameOfChannel, othersOf } from './channel-words.ts'

/** The value of the row that leads to the escalation. */
export function unansweredSummary({ settings: { escalation }, channels }: Pick<NotificationContext, 'settings' | 'channels'>): string {
  const to = chosenOf(othersOf(channels), escalation)
  if (!escalation || to.length === 0) return words.unansweredOff
  return words.unansweredAlso(escalation.afterMinutes, new Intl.ListFormat(locale(), { type: 'unit' }).format(to.map(nameOfChannel)))
}

/** Moves the channel at `at` one place forward. */
export function sooner(to: readonly string[], at: number): string[] {
  const moved = to.slice(at, at + 1)
  const rest = to.toSpliced(at, 1)
  return rest.toSpliced(at - 1, 0, ...moved)
}

/** The channels named in the settings, in order. */
export function chosenOf(others: readonly Channel[], escalation: NotificationSettings['escalation']): Channel[] {
  return (escalation?.to ?? []).flatMap(id => others.filter(each => each.id === id))
}
