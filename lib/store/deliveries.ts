import type { AccountId, SessionId } from '../protocol/wire/ids.ts'
import { type ChannelKind, type NotificationSettings, notificationSettings } from '../protocol/wire/notifications.ts'
import * as v from '../schema.ts'
import type { DeliveryDraft, DueDelivery, NoticeDraft } from './notices.ts'

/** Nothing is ever deferred for longer than a day and an hour. */
export const furthestAheadMs = 25 * 60 * 60 * 1000
/** The number due, so that a long queue of one account costs the others little. */
export const mostLookedAt = 500

/** A delivery that is due as a database returns it, with its notice and channel; SQLite has no booleans. */
export interface KeptDelivery {
  key: number
  account: AccountId
  token: string | null
  channel: string
  receipt: string
  what: 'show' | 'clear'
  outcome: string
  ticket: string | null
  attempts: number
  isSilent: boolean | number
  isCollected: boolean | number
  unlessWatched: boolean | number
  settings: string | null
  id: string
  kind: NoticeDraft['kind']
  session: SessionId | null
  title: string
  body: string
  preview: string | null
  createdAt: number
  expiresAt: number
  settledAt: number | null
}

/** Why nothing is attempted any more; accepted ones stay so, if their result can no longer be looked up. */
export function endOf({ token, ticket, what, settledAt, expiresAt }: KeptDelivery, isLook: boolean, now: number) {
  if (isLook) return token === null || ticket === null ? 'accepted' : undefined
  if (token === null) return 'gone'
  if (what === 'show' && settledAt !== null) return 'settled'
  return expiresAt <= now ? 'expired' : undefined
}

export function dueDelivery(row: KeptDelivery, what: DueDelivery['what']): DueDelivery {
  const { key, account, token, channel, receipt, ticket, attempts } = row
  const { settings, id, kind, session, title, body, preview, createdAt, expiresAt } = row
  if (token === null) throw new Error('A delivery without a channel was claimed')
  const said = settingsOf(settings)
  return {
    key,
    account,
    token,
    channel,
    receipt,
    what,
    ticket,
    attempts: attempts + 1,
    isSilent: Boolean(row.isSilent),
    isCollected: Boolean(row.isCollected),
    unlessWatched: Boolean(row.unlessWatched),
    language: said?.language ?? 'en',
    notice: { id, kind, session, title, body, preview: said?.previews ? preview : null, createdAt, expiresAt }
  }
}

/** One that a device shows. */
export interface ShownDelivery {
  channel: string
  channelKind: ChannelKind
  receipt: string
}

/** Takes back what a device shows. */
export function clearOf({ channel, channelKind, receipt }: ShownDelivery, now: number): DeliveryDraft {
  return { channel, channelKind, receipt: `${receipt}-clear`, dueAt: now, isSilent: true, isCollected: false, unlessWatched: false }
}

/** The approximate size of a notice with its deliveries. */
export function noticeBytes({ title, body, preview, deliveries }: NoticeDraft): number {
  return title.length + body.length + (preview?.length ?? 0) + deliveries.length * 100
}

// Parsed on arrival; again here, so that settings of a later version that was rolled back become the defaults.
export function settingsOf(text: string | null): NotificationSettings | null {
  if (text === null) return null
  const read = v.safeParse(notificationSettings, JSON.parse(text))
  return read.success ? read.data : null
}
