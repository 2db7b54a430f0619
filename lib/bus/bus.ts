import type { RpcParams } from '../protocol/wire/events.ts'
import type { CallFailure } from '../protocol/wire/failures.ts'
import type { AccountId, ArtifactId, ConnectionId, DeviceId, KvKey, MachineId, Sealed, SessionId, TokenId } from '../protocol/wire/ids.ts'
import type { NoticeKind, PushKind, RingKind } from '../protocol/wire/notifications.ts'
import type { ArtifactRow, SealedCell } from '../store/artifacts.ts'
import type { KvChange } from '../store/kv.ts'
import type { Cell, CellRef, MachineRow, Message, RemovableRef, RowRef, SessionRow, TokenKind } from '../store/rows.ts'
import type { Amounts } from '../store/usage.ts'

export type Topic = string & { readonly __is: 'Topic' }

/** Who gets an event besides the apps of the account: nobody, or the connections scoped to one row. */
export type Audience = 'apps' | RowRef

/** A stored change. `clock` is the account's update seq of its last update. */
export type Change =
  | { type: 'session-opened'; session: SessionRow }
  | { type: 'machine-opened'; machine: MachineRow }
  | { type: 'row-removed'; row: RemovableRef; by?: DeviceId | null }
  | { type: 'artifact-opened'; artifact: ArtifactRow }
  | { type: 'artifact-written'; id: ArtifactId; header?: SealedCell; body?: SealedCell }
  | { type: 'kv-written'; changes: KvChange[] }
  | { type: 'cell-written'; cell: CellRef; now: Cell }
  | { type: 'messages-added'; session: SessionId; messages: Message[] }
  | { type: 'receipts-marked'; session: SessionId; deliveredSeq: number; readSeq: number }

/** The same changes by reference: what is too large for a bus is read from the store where it is needed. */
export type StoredChange =
  | { type: 'session-opened'; session: SessionId }
  | { type: 'machine-opened'; machine: MachineId }
  | { type: 'artifact-opened'; artifact: ArtifactId }
  | { type: 'artifact-written'; artifact: ArtifactId; parts: ('header' | 'body')[] }
  | { type: 'kv-written'; keys: { key: KvKey; version: number }[] }
  | { type: 'cell-written'; cell: CellRef }
  | { type: 'messages-added'; session: SessionId; first: number; last: number }

/** Current state that is not stored. */
export type Signal =
  | { type: 'presence'; row: RowRef; active: boolean; at: number; thinking: boolean }
  | { type: 'usage'; session: SessionId; key: string; at: number; tokens: Amounts; cost: Amounts }
  | { type: 'session-event'; session: SessionId; kind: PushKind; title: string; body: string; at: number }
  | { type: 'notice'; session: SessionId; notice: string; kind: NoticeKind | RingKind; at: number }
  | { type: 'partial'; session: SessionId; partial: Sealed }
  | { type: 'device-came'; device: DeviceId; kind: TokenKind; name: string; at: number }
  | { type: 'pairing-fetched-twice'; at: number }

export type BusEvent =
  | { type: 'change'; clock: number; at: number; skip?: ConnectionId | undefined; audience: Audience; change: Change }
  /** In place of a change that is too large for the bus. */
  | { type: 'large-change'; clock: number; at: number; skip?: ConnectionId | undefined; audience: Audience; stored: StoredChange }
  | { type: 'signal'; audience: Audience; skip?: ConnectionId | undefined; signal: Signal }
  | { type: 'token-revoked'; token: TokenId }
  /**
   * A connection registered for a method at this stamp: registrations with a lower stamp are over, and
   * waiting callers ask again. A stamp is higher than all that its instance had received.
   */
  | { type: 'callee-here'; method: string; connection: ConnectionId; stamp: number; heldForMs: number }
  | {
      type: 'call'
      id: string
      replyTo: Topic
      from?: ConnectionId | undefined
      by?: DeviceId | undefined
      method: string
      params?: RpcParams
    }
  /** A callee of the instance has the call; from now on only its answer or its end can follow. */
  | { type: 'call-taken'; id: string; instance: string }
  | { type: 'call-dropped'; id: string }
  | { type: 'call-answered'; id: string; result: { ok: true; value: Sealed } | { ok: false; why: CallFailure } }
  /** Asks whether another instance has a connection of the row's own process, or an app in use; only one that has answers. */
  | { type: 'present-asked'; id: string; replyTo: Topic; of: 'watching-app' | RowRef }
  | { type: 'present'; id: string }
  /** Asks an instance whether it still runs. */
  | { type: 'instance-asked'; replyTo: Topic }
  | { type: 'instance-here'; instance: string }
  /** What was counted for rate limits at an instance; `at` is the store's time. A limit may be one of another version. */
  | { type: 'limits-used'; instance: string; at: number; uses: LimitUse[] }
  /** How many sockets of each account an instance holds; none if it says nothing, or zero. */
  | { type: 'seats-held'; instance: string; seats: { account: AccountId; sockets: number }[] }
  /** Has the other instances say what they hold of these accounts. */
  | { type: 'seats-asked'; instance: string; accounts: AccountId[] }
  /** Somebody tried a wrong setup code. With the last one that is allowed all instances lock it. */
  | { type: 'setup-code-wrong'; instance: string; at: number; isLast: boolean }

/** `ms` is how long the allowance of the key takes to grow by what was used. */
export interface LimitUse {
  limit: string
  key: string
  ms: number
}

/** Everything about one account uses its topic; each instance has another one for replies. */
export function accountTopic(account: AccountId): Topic {
  return `account:${account}` as Topic
}
export function instanceTopic(instance: string): Topic {
  return `instance:${instance}` as Topic
}
/** Received by every instance, whether or not it has connections of the account. */
export const revocationTopic = 'revocations' as Topic
/**
 * What instances count together, also received by every one. It has a topic of its own because versions before it do not
 * listen to it, and so have nothing to report: new kinds of events need another topic.
 */
export const limitsTopic = 'limits' as Topic

/**
 * Connects the instances of a server. Each event is delivered at most once, and in order per publisher and topic. The
 * publisher's own instance gets its events too, whole, even when the others cannot be reached. What comes on a topic without
 * a listener is passed over and reported to nobody, whatever it is: a later version may publish there.
 */
export interface Bus {
  /** Whether there may be other instances. If not, nobody waits for their answers. */
  readonly isShared: boolean
  /**
   * Never throws and never waits; connections of this instance get the frame before it returns. What is too large for the
   * others reaches them as its reference (`referenceTo`) or is read by the bus itself, in order with what follows; a signal
   * that is too large does not reach them.
   */
  publish(topic: Topic, event: BusEvent): void
  /**
   * Once resolved, nothing published later is missed while the bus is connected, or `onLost` says so. A rejection leaves
   * nothing behind: the connection that asked is told to reconnect, and tries again then. While the bus is disconnected this
   * resolves, since the topic still connects the clients of this instance.
   */
  subscribe(topic: Topic, listener: (event: BusEvent) => void): Promise<() => Promise<void>>
  /**
   * Calls the listener when events of other instances may not have arrived, once everything published from then on arrives
   * again: those of one topic, or, without a topic, of any. Clients that need them reconnect and read what they missed. Without
   * this call they would never learn of it. The returned function removes the listener.
   */
  onLost(listener: (topic: Topic | undefined) => void): () => void
  close(): Promise<void>
}
