import { language } from './index.ts'

/** How long ago, as short as a row wants it: "now", "4 min", "3 h", then the weekday, then the date. Times are ms since 1970. */
export function ago(then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60_000)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes} min`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`
  if (minutes < 7 * 24 * 60) return weekday.format(then)
  return shortDate.format(then)
}

/** As `ago`, as a part of a sentence: "4 min ago", "on Tue". */
export function agoInWords(then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60_000)
  if (minutes < 1) return 'just now'
  return minutes < 24 * 60 ? `${ago(then, now)} ago` : `on ${ago(then, now)}`
}

/** The time of day, with the day when it was not today: for what may be stale. */
export function clockTime(then: number, now: number): string {
  if (isSameDay(then, now)) return time.format(then)
  return now - then < 7 * 24 * 3600_000 ? `${weekday.format(then)} ${time.format(then)}` : shortDate.format(then)
}

/** A length of time in words: "6 min", "2 h". Under a minute it is "under a minute". */
export function lasting(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'under a minute'
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
}

export function date(then: number): string {
  return fullDate.format(then)
}

/** For `title`, and for who listens. */
export function fullTime(then: number): string {
  return full.format(then)
}

const weekday = new Intl.DateTimeFormat(language, { weekday: 'short' })
const shortDate = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const fullDate = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short' })

function isSameDay(a: number, b: number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString()
}
