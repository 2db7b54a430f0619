import type { NotificationSettings, RingKind } from '../../../protocol/wire/notifications.ts'

/** When and how one channel is notified, or why it is not. */
type Ringing =
  | { rings: true; at: number; isSilent: boolean; isCollected: boolean }
  | { rings: false; why: 'off' | 'session' | 'snoozed' | 'quiet' }

const minuteMs = 60_000
const dayMinutes = 24 * 60

/** A device's settings for a notice. Devices that never chose get all of them, with sound. */
export function ringingOf(
  settings: NotificationSettings | null,
  { kind, session }: { kind: RingKind; session: string | undefined },
  now: number
): Ringing {
  const usual = { rings: true, at: now, isSilent: false, isCollected: false } as const
  if (settings === null || kind === 'test') return usual
  const isDecision = isDecisionKind(kind)
  const forSession = session === undefined ? undefined : settings.sessions[session]
  if (forSession === 'off' || (forSession === 'decisions' && !isDecision)) return { rings: false, why: 'session' }
  const how = howOf(settings, kind)
  if (how === 'off') return { rings: false, why: 'off' }
  if (now < (settings.snoozedUntil ?? 0)) return { rings: false, why: 'snoozed' }
  return inQuietHours(settings, isDecision, now) ?? { ...usual, isSilent: how === 'silent' }
}

/** Someone has to answer before the agent continues. */
export function isDecisionKind(kind: RingKind): boolean {
  return kind === 'permission' || kind === 'question'
}

function howOf(settings: NotificationSettings, kind: RingKind): 'sound' | 'silent' | 'off' {
  switch (kind) {
    case 'permission':
    case 'question':
      return settings.decision
    case 'done':
    case 'digest':
      return settings.finished
    case 'error':
    case 'failed':
    case 'silent':
      return settings.failed
    case 'machine':
      return settings.machine
    // Sign-ins and tests are always reported.
    case 'device':
    case 'test':
      return 'sound'
  }
}

function inQuietHours({ quiet, timeZone }: NotificationSettings, isDecision: boolean, now: number): Ringing | undefined {
  if (quiet === null) return undefined
  const { day, minute } = localTime(now, timeZone)
  const [from, to] = [minutesOf(quiet.from), minutesOf(quiet.to)]
  const yesterday = day === 1 ? 7 : day - 1
  const beganToday = quiet.days.includes(day) && minute >= from && (minute < to || to <= from)
  const beganYesterday = quiet.days.includes(yesterday) && to <= from && minute < to
  if (!beganToday && !beganYesterday) return undefined
  switch (quiet.keep) {
    case 'decisions':
      return isDecision ? { rings: true, at: now, isSilent: true, isCollected: false } : { rings: false, why: 'quiet' }
    case 'nothing':
      return { rings: false, why: 'quiet' }
    case 'collect': {
      // Whole minutes of wall time; in a night when the clocks change it is an hour off.
      const ahead = (minutesOf(quiet.collectAt) - minute + dayMinutes) % dayMinutes || dayMinutes
      return { rings: true, at: now - (now % minuteMs) + ahead * minuteMs, isSilent: false, isCollected: true }
    }
  }
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function localTime(now: number, timeZone: string): { day: number; minute: number } {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23'
  }).formatToParts(now)
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find(each => each.type === type)?.value ?? ''
  return { day: weekdays.indexOf(part('weekday')) + 1, minute: Number(part('hour')) * 60 + Number(part('minute')) }
}
