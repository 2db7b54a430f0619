import * as v from '../../schema.ts'
import { time } from './ids.ts'

/** The kinds that existing wrappers may send. */
export const pushKind = v.picklist(['done', 'permission', 'question', 'error'])
export type PushKind = v.InferOutput<typeof pushKind>

/**
 * Further kinds of our wrappers: the session stopped (`failed`), no output for long (`silent`), and a notice
 * that is no longer needed (`settled`).
 */
export const noticeKind = v.picklist([...pushKind.options, 'failed', 'silent', 'settled'])
export type NoticeKind = v.InferOutput<typeof noticeKind>

/** All kinds of notices, including those of the server itself: a machine went offline, a sign-in, a test, a digest of several. */
export const ringKind = v.picklist([...pushKind.options, 'failed', 'silent', 'machine', 'device', 'test', 'digest'])
export type RingKind = v.InferOutput<typeof ringKind>

/** The services that deliver, named by the prefix of their tokens; `own` is an embedder's. */
export const channelKind = v.picklist(['expo', 'web-push', 'ntfy', 'unified-push', 'webhook', 'own', 'unknown'])
export type ChannelKind = v.InferOutput<typeof channelKind>

const clockTime = v.pipe(v.string(), v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time such as 22:30'))
const how = v.picklist(['sound', 'silent', 'off'])
/** Monday is 1, Sunday 7. */
const weekday = v.pipe(v.int(), v.minValue(1), v.maxValue(7))

/** When a device may be notified; readable by the server, which applies it. Each part has a default. */
export const notificationSettings = v.object({
  /** Decisions are permissions, questions and plans; they are always sent. */
  decision: v.optional(v.picklist(['sound', 'silent']), 'sound'),
  finished: v.optional(how, 'sound'),
  /** An error, a session that stopped, a silent agent. */
  failed: v.optional(how, 'sound'),
  machine: v.optional(how, 'silent'),
  /** By session id: only decisions, or nothing. */
  sessions: v.optional(v.record(v.pipe(v.string(), v.minLength(1), v.maxLength(64)), v.picklist(['decisions', 'off'])), {}),
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: v.optional(v.pipe(v.string(), v.maxLength(64), v.check(isTimeZone, 'is not an IANA time zone')), 'UTC'),
  /** From a time to a time, which may be on the next day. The days are those on which it begins. */
  quiet: v.optional(
    v.nullable(
      v.object({
        from: clockTime,
        to: clockTime,
        days: v.pipe(v.array(weekday), v.minLength(1), v.maxLength(7)),
        /** Only decisions, without sound; nothing; or everything collected and sent at `collectAt`. */
        keep: v.picklist(['decisions', 'nothing', 'collect']),
        collectAt: v.optional(clockTime, '07:00')
      })
    ),
    null
  ),
  snoozedUntil: v.optional(v.nullable(time), null),
  /** How long after the last touch a visible app counts as in use. 0: always notify. */
  watchedMinutes: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(5)), 1),
  /** Whether sealed previews are sent to it, for its own worker to decrypt. */
  previews: v.optional(v.boolean(), false),
  /** Who else is notified, by channel id, if a decision is still open after so many minutes; each next one after as many more. */
  escalation: v.optional(
    v.nullable(
      v.object({
        afterMinutes: v.union([v.literal(2), v.literal(5), v.literal(15)]),
        to: v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(64))), v.minLength(1), v.maxLength(8))
      })
    ),
    null
  ),
  language: v.optional(v.picklist(['en', 'zh']), 'en')
})
export type NotificationSettings = v.InferOutput<typeof notificationSettings>

/** The outcome of a notice on one channel; all but `waiting` are final. */
export const deliveryOutcome = v.picklist([
  'waiting',
  'accepted',
  'arrived',
  'gone',
  'refused',
  'unknown',
  'expired',
  'settled',
  'watched',
  'collected'
])
export type DeliveryOutcome = v.InferOutput<typeof deliveryOutcome>

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
