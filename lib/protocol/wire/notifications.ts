import * as z from 'zod'
import { time } from './ids.ts'

/** What existing wrappers may notify of. */
export const pushKind = z.enum(['done', 'permission', 'question', 'error'])
export type PushKind = z.infer<typeof pushKind>

/**
 * What a wrapper of ours may tell besides: the session stopped (`failed`), nothing was heard for long (`silent`), and a notice
 * needs nobody any more (`settled`).
 */
export const noticeKind = z.enum([...pushKind.options, 'failed', 'silent', 'settled'])
export type NoticeKind = z.infer<typeof noticeKind>

/** What phones may be told, by the server itself as well: a machine dropped off, somebody signed in, a test, a digest of several. */
export const ringKind = z.enum([...noticeKind.exclude(['settled']).options, 'machine', 'device', 'test', 'digest'])
export type RingKind = z.infer<typeof ringKind>

/** The services that deliver, named by the prefix of their tokens; `own` is an embedder's. */
export const channelKind = z.enum(['expo', 'web-push', 'ntfy', 'unified-push', 'webhook', 'own', 'unknown'])
export type ChannelKind = z.infer<typeof channelKind>

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time such as 22:30')
const how = z.enum(['sound', 'silent', 'off'])
/** Monday is 1, Sunday 7. */
const weekday = z.int().min(1).max(7)

/** What a device says of when it may be notified; readable by the server, which has to judge by it. Each part has a default. */
export const notificationSettings = z.object({
  /** Decisions are permissions, questions and plans; they always come. */
  decision: how.exclude(['off']).default('sound'),
  finished: how.default('sound'),
  /** An error, a session that stopped, an agent that fell silent. */
  failed: how.default('sound'),
  machine: how.default('silent'),
  /** By session id: only decisions, or nothing at all. */
  sessions: z.record(z.string().min(1).max(64), z.enum(['decisions', 'off'])).default({}),
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: z.string().max(64).refine(isTimeZone, 'no time zone of the IANA list').default('UTC'),
  /** From a time to a time, which may lie on the next day. The days are those on which it begins. */
  quiet: z
    .object({
      from: clockTime,
      to: clockTime,
      days: z.array(weekday).min(1).max(7),
      /** Decisions without sound and nothing else; nothing; or everything collected and told at `collectAt`. */
      keep: z.enum(['decisions', 'nothing', 'collect']),
      collectAt: clockTime.default('07:00')
    })
    .nullable()
    .default(null),
  snoozedUntil: time.nullable().default(null),
  /** How long after the last touch a visible app means that somebody is there. 0: always notify. */
  watchedMinutes: z.number().min(0).max(5).default(1),
  /** Whether sealed previews are sent to it, for its own worker to open. */
  previews: z.boolean().default(false),
  /** Who else is told, by channel id, when a decision is still open so many minutes later; each next one after as many minutes more. */
  escalation: z
    .object({ afterMinutes: z.union([z.literal(2), z.literal(5), z.literal(15)]), to: z.array(z.string().min(1).max(64)).min(1).max(8) })
    .nullable()
    .default(null),
  language: z.enum(['en', 'zh']).default('en')
})
export type NotificationSettings = z.infer<typeof notificationSettings>

/** What became of a notice on one channel; `waiting` is the only one that is not the last. */
export const deliveryOutcome = z.enum([
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
export type DeliveryOutcome = z.infer<typeof deliveryOutcome>

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
