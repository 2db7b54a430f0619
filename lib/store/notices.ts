import type { AccountId, DeviceId, SessionId } from '../protocol/wire/ids.ts'
import type { ChannelKind, DeliveryOutcome, NotificationSettings, RingKind } from '../protocol/wire/notifications.ts'
import type { Quotas } from './quotas.ts'

export interface PushTokenRow {
  id: string
  token: string
  createdAt: number
  updatedAt: number
}

/** Where pushes for an account go. */
export interface PushTokenStore {
  addPushToken(
    account: AccountId,
    push: { id: string; token: string; device?: DeviceId | null; now: number },
    quotas?: Quotas
  ): Promise<void>
  listPushTokens(account: AccountId): Promise<PushTokenRow[]>
  removePushToken(account: AccountId, token: string): Promise<void>
}

/** A push token, and what the device that registered it says of when it may be notified. */
export interface ChannelRow extends PushTokenRow {
  device: DeviceId | null
  deviceName: string | null
  /** Null: it never said, or it is no device of ours. */
  settings: NotificationSettings | null
}

export interface NoticeDraft {
  /** Chosen by the wrapper, or made by the server; unique within the account. */
  id: string
  kind: RingKind
  session: SessionId | null
  title: string
  body: string
  preview: string | null
  now: number
  /** Nothing is tried from then on. */
  expiresAt: number
  deliveries: readonly DeliveryDraft[]
}

export interface DeliveryDraft {
  /** The id of the push token. */
  channel: string
  channelKind: ChannelKind
  /** Unguessable; what the receiver acknowledges the arrival with. */
  receipt: string
  dueAt: number
  isSilent: boolean
  /** Told together with others of its channel that are due. */
  isCollected: boolean
  /** Not told while somebody looks at an app of the account. */
  unlessWatched: boolean
}

/** A delivery whose time has come, held for whoever claimed it. The preview is there only for devices that ask for previews. */
export interface DueDelivery {
  /** Names it within the store. */
  key: number
  account: AccountId
  token: string
  channel: string
  receipt: string
  /** `look`: it was accepted, and the provider may know by now what became of it. */
  what: 'show' | 'clear' | 'look'
  ticket: string | null
  attempts: number
  isSilent: boolean
  isCollected: boolean
  unlessWatched: boolean
  language: NotificationSettings['language']
  notice: Pick<NoticeDraft, 'id' | 'kind' | 'session' | 'title' | 'body' | 'preview' | 'expiresAt'> & { createdAt: number }
}

/** What came of an attempt: the last word, or when to try again. */
export type DeliveryResult =
  | {
      key: number
      outcome: Exclude<DeliveryOutcome, 'waiting' | 'arrived'>
      reason: string | null
      ticket?: string
      lookAt?: number
      at: number
    }
  | { key: number; outcome: 'waiting'; reason: string | null; dueAt: number }

export interface DeliveryRow {
  channel: string
  kind: RingKind
  outcome: DeliveryOutcome
  reason: string | null
  createdAt: number
  sentAt: number | null
  arrivedAt: number | null
}

export interface NoticeStore {
  listChannels(account: AccountId): Promise<ChannelRow[]>
  /** By its id; a delivery that waits for it ends as `gone`. */
  removeChannel(account: AccountId, id: string): Promise<void>
  readNotificationSettings(account: AccountId, device: DeviceId): Promise<NotificationSettings | null>
  writeNotificationSettings(account: AccountId, device: DeviceId, settings: NotificationSettings): Promise<'written' | 'missing'>

  /** With what is to be delivered, in one transaction. A notice that the account knows by this id is left as it is. */
  addNotice(account: AccountId, draft: NoticeDraft, quotas?: Quotas): Promise<'added' | 'known'>
  /**
   * Ends the notices of a session, or the one of this id: what waits is settled, and what was shown on a channel of these
   * kinds is to be cleared there. One that is not known yet is remembered as settled, since its repeat may come later.
   */
  settleNotices(
    account: AccountId,
    ask: { session: SessionId; id: string | undefined; clears: readonly ChannelKind[]; now: number },
    quotas?: Quotas
  ): Promise<{ settled: string[] }>
  /**
   * What is due on channels of this kind, the longest first, at most `ofAnAccount` of one account, held until `heldUntil`; an
   * account in `busy` is passed over. What is collected comes as one: the others of its channel that are due end as `collected`.
   * What was settled ends as `settled`, what
   * has expired ends as `expired`, and what waits for a channel that is gone as `gone`. A time further ahead than any that is given out comes from a clock that was wrong: it is due.
   */
  claimDeliveries(ask: {
    kind: ChannelKind
    now: number
    heldUntil: number
    limit: number
    ofAnAccount: number
    busy: readonly AccountId[]
  }): Promise<DueDelivery[]>
  /** `gone` removes the push token too. One that was settled meanwhile stays settled, save that it is cleared if it was shown. */
  endDeliveries(results: readonly DeliveryResult[], clears: readonly ChannelKind[]): Promise<void>
  /** When the next is due on channels of this kind. */
  nextDelivery(kind: ChannelKind): Promise<number | undefined>
  /** Counts an arrival once, for the device that registered the channel. */
  acknowledgeDelivery(account: AccountId, device: DeviceId, receipt: string, now: number): Promise<'arrived' | 'missing'>
  /** What became of notices since then, the newest first. */
  listDeliveries(account: AccountId, since: number, limit: number): Promise<DeliveryRow[]>
  /** What became of one notice on each channel. */
  findDeliveries(account: AccountId, notice: string): Promise<DeliveryRow[]>
  /** Forgets at most `limit` notices made before then; resolves to how many. */
  forgetNotices(before: number, limit: number): Promise<number>
}
