import * as v from '../../schema.ts'
import { time } from './ids.ts'

/** What existing wrappers may notify of. */
export const pushKind = v.picklist(['done', 'permission', 'question', 'error'])
export type PushKind = v.InferOutput<typeof pushKind>

/**
 * What a wrapper of ours may tell besides: the session stopped (`failed`), nothing was heard for long (`silent`), and a notice
 * needs nobody any more (`settled`).
 */
export const noticeKind = v.picklist([...pushKind.options, 'failed', 'silent', 'settled'])
export type NoticeKind = v.InferOutput<typeof noticeKind>

/** What phones may be told, by the server itself as well: a machine dropped off, somebody signed in, a test, a digest of several. */
export const ringKind = v.picklist([...pushKind.options, 'failed', 'silent', 'machine', 'device', 'test', 'digest'])
export type RingKind = v.InferOutput<typeof ringKind>

/** The services that deliver, named by the prefix of their tokens; `own` is an embedder's. */
export const channelKind = v.picklist(['expo', 'web-push', 'ntfy', 'unified-push', 'webhook', 'own', 'unknown'])
export type ChannelKind = v.InferOutput<typeof channelKind>

const clockTime = v.pipe(v.string(), v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time such as 22:30'))
const how = v.picklist(['sound', 'silent', 'off'])
/** Monday is 1, Sunday 7. */
const weekday = v.pipe(v.int(), v.minValue(1), v.maxValue(7))

/** What a device says of when it may be notified; readable by the server, which has to judge by it. Each part has a default. */
export const notificationSettings = v.object({
  /** Decisions are permissions, questions and plans; they always come. */
  decision: v.optional(v.picklist(['sound', 'silent']), 'sound'),
  finished: v.optional(how, 'sound'),
  /** An error, a session that stopped, an agent that fell silent. */
  failed: v.optional(how, 'sound'),
  machine: v.optional(how, 'silent'),
  /** By session id: only decisions, or nothing at all. */
  sessions: v.optional(v.record(v.pipe(v.string(), v.minLength(1), v.maxLength(64)), v.picklist(['decisions', 'off'])), {}),
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: v.optional(v.pipe(v.string(), v.maxLength(64), v.check(isTimeZone, 'no time zone of the IANA list')), 'UTC'),
  /** From a time to a time, which may lie on the next day. The days are those on which it begins. */
  quiet: v.optional(
    v.nullable(
      v.object({
        from: clockTime,
        to: clockTime,
        days: v.pipe(v.array(weekday), v.minLength(1), v.maxLength(7)),
        /** Decisions without sound and nothing else; nothing; or everything collected and told at `collectAt`. */
        keep: v.picklist(['decisions', 'nothing', 'collect']),
        collectAt: v.optional(clockTime, '07:00')
      })
    ),
    null
  ),
  snoozedUntil: v.optional(v.nullable(time), null),
  /** How long after the last touch a visible app means that somebody is there. 0: always notify. */
  watchedMinutes: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(5)), 1),
  /** Whether sealed previews are sent to it, for its own worker to open. */
  previews: v.optional(v.boolean(), false),
  /** Who else is told, by channel id, when a decision is still open so many minutes later; each next one after as many minutes more. */
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

/** What became of a notice on one channel; `waiting` is the only one that is not the last. */
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
