import { inLanguage, locale, type Translated } from './language.ts'

const english = {
  now: 'now',
  justNow: 'just now',
  minutes: (n: number) => `${n} min`,
  hours: (n: number) => `${n} h`,
  hoursAndMinutes: (hours: number, minutes: number) => `${hours} h ${minutes} min`,
  minutesAndSeconds: (minutes: number, seconds: number) => `${minutes} min ${seconds} s`,
  seconds: (n: number) => `${n} s`,
  underAMinute: 'under a minute',
  minutesAgo: (n: number) => `${n} min ago`,
  hoursAgo: (n: number) => `${n} h ago`,
  on: (day: string) => `on ${day}`
}

export type TimeWords = Translated<typeof english>

const words = inLanguage('time', english)

/** The age of something, short enough for a row: "now", "4 min", "3 h", then the weekday, then the date. Times are ms since 1970. */
export function ago(then: number, now: number): string {
  const { unit, count } = age(then, now)
  return unit === 'now' ? words.now : unit === 'day' ? day(then, now) : words[unit](count)
}

/** Like `ago`, as part of a sentence: "4 min ago", "on Tue". */
export function agoInWords(then: number, now: number): string {
  const { unit, count } = age(then, now)
  return unit === 'now' ? words.justNow : unit === 'day' ? words.on(day(then, now)) : words[`${unit}Ago`](count)
}

/** The time of day, with the day if it was not today: for data that may be stale. */
export function clockTime(then: number, now: number): string {
  if (isSameDay(then, now)) return time.format(then)
  return now - then < weekMs ? `${weekday.format(then)} ${time.format(then)}` : shortDate.format(then)
}

/** A duration in words: "6 min", "2 h". Less than a minute is "under a minute". */
export function lasting(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return words.underAMinute
  return minutes < 60 ? words.minutes(minutes) : words.hours(Math.floor(minutes / 60))
}

/** A duration, short enough for a row: "6 s", "2 min", "1 h 5 min". */
export function duration(ms: number): string {
  const whole = Math.round(ms / 1000)
  if (whole < 60) return words.seconds(whole)
  const minutes = Math.floor(whole / 60)
  if (minutes < 5 && whole % 60 > 0) return words.minutesAndSeconds(minutes, whole % 60)
  if (minutes < 60) return words.minutes(minutes)
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 ? words.hours(hours) : words.hoursAndMinutes(hours, minutes % 60)
}

export function date(then: number): string {
  return fullDate.format(then)
}

/** Day and time, to distinguish similar entries. */
export function moment(then: number): string {
  return medium.format(then)
}

/** A month with its year, as a heading. */
export function monthName(then: number): string {
  return longMonth.format(then)
}

/** The day without its year, as a heading between messages. */
export function dayName(then: number): string {
  return longDay.format(then)
}

/** For `title` attributes and screen readers. */
export function fullTime(then: number): string {
  return full.format(then)
}

const weekMs = 7 * 24 * 3600_000
const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale(), options)
const weekday = format({ weekday: 'short' })
const shortDate = format({ day: 'numeric', month: 'short' })
const fullDate = format({ day: 'numeric', month: 'long', year: 'numeric' })
const longDay = format({ weekday: 'long', day: 'numeric', month: 'long' })
const longMonth = format({ month: 'long', year: 'numeric' })
const time = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const medium = format({ dateStyle: 'medium', timeStyle: 'short' })
const full = format({ dateStyle: 'full', timeStyle: 'short' })

function age(then: number, now: number): { unit: 'now' | 'minutes' | 'hours' | 'day'; count: number } {
  const minutes = Math.floor((now - then) / 60_000)
  if (minutes < 1) return { unit: 'now', count: 0 }
  if (minutes < 60) return { unit: 'minutes', count: minutes }
  return minutes < 24 * 60 ? { unit: 'hours', count: Math.floor(minutes / 60) } : { unit: 'day', count: 0 }
}

function day(then: number, now: number): string {
  return now - then < weekMs ? weekday.format(then) : shortDate.format(then)
}

function isSameDay(a: number, b: number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString()
}
