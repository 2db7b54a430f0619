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

/** A push token, with the settings of the device that registered it. */
export interface ChannelRow extends PushTokenRow {
  device: DeviceId | null
  deviceName: string | null
  /** Null: it never chose, or it is not a device of ours. */
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
  /** Nothing is attempted from then on. */
  expiresAt: number
  deliveries: readonly DeliveryDraft[]
}

export interface DeliveryDraft {
  /** The id of the push token. */
  channel: string
  channelKind: ChannelKind
  /** Unguessable; the receiver acknowledges the arrival with it. */
  receipt: string
  dueAt: number
  isSilent: boolean
  /** Sent together with others of its channel that are due. */
  isCollected: boolean
  /** Not sent while an app of the account is in use. */
  unlessWatched: boolean
}

/** A due delivery, held for whoever claimed it. The preview is set only for devices that ask for previews. */
export interface DueDelivery {
  /** Identifies it within the store. */
  key: number
  account: AccountId
  token: string
  channel: string
  receipt: string
  /** `look`: it was accepted, and the provider may know the result by now. */
  what: 'show' | 'clear' | 'look'
  ticket: string | null
  attempts: number
  isSilent: boolean
  isCollected: boolean
  unlessWatched: boolean
  language: NotificationSettings['language']
  notice: Pick<NoticeDraft, 'id' | 'kind' | 'session' | 'title' | 'body' | 'preview' | 'expiresAt'> & { createdAt: number }
}

/** The result of an attempt: final, or when to retry. */
export type DeliveryResult =
  | {
      key: number
      outcome: Exclude<DeliveryOutcome, 'waiting' | 'arrived'>
      reason: string | null
      ticket?: string
      lookAt?: number
      at: number
    }
  | { key: number; outcome: 'waiting'; reason: string | null; dueAt: number; attempts: number }

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

  /**
   * Together with its deliveries, in one transaction. A notice that the account already has under this
   * id is unchanged. The oldest make room where there are too many.
   */
  addNotice(account: AccountId, draft: NoticeDraft, quotas?: Quotas): Promise<'added' | 'known'>
  /**
   * Ends the notices of a session, or the one with this id: waiting ones are settled, and those shown
   * on a channel of these kinds are to be cleared there. An unknown one is remembered as settled,
   * since its repeat may come later.
   */
  settleNotices(
    account: AccountId,
    ask: { session: SessionId; id: string | undefined; clears: readonly ChannelKind[]; now: number },
    quotas?: Quotas
  ): Promise<{ settled: string[] }>
  /**
   * What is due on channels of this kind, the oldest first, at most `ofAnAccount` of one account, held
   * until `heldUntil`; accounts in `busy` are skipped. Collected ones come as one: the others of its
   * channel that are due end as `collected`. Settled ones end as `settled`, expired ones as `expired`,
   * and those waiting for a removed channel as `gone`. A time further ahead than any that is assigned
   * comes from a wrong clock: it is due.
   */
  claimDeliveries(ask: {
    kind: ChannelKind
    now: number
    heldUntil: number
    limit: number
    ofAnAccount: number
    busy: readonly AccountId[]
  }): Promise<DueDelivery[]>
  /**
   * `gone` removes the push token too. One that was settled meanwhile stays settled, but is cleared if
   * it was shown. When one is due again is not for an attempt to say that another has followed: `attempts`
   * is what it was claimed with.
   */
  endDeliveries(results: readonly DeliveryResult[], clears: readonly ChannelKind[]): Promise<void>
  /** When the next is due on channels of this kind. */
  nextDelivery(kind: ChannelKind): Promise<number | undefined>
  /** Counts an arrival once, for the device that registered the channel. */
  acknowledgeDelivery(account: AccountId, device: DeviceId, receipt: string, now: number): Promise<'arrived' | 'missing'>
  /** The results of notices since then, newest first. */
  listDeliveries(account: AccountId, since: number, limit: number): Promise<DeliveryRow[]>
  /** The result of one notice on each channel. */
  findDeliveries(account: AccountId, notice: string): Promise<DeliveryRow[]>
  /** Removes at most `limit` notices made before then; resolves to how many. */
  forgetNotices(before: number, limit: number): Promise<number>
}
