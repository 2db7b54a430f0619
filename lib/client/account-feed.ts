import type { Clock } from '../async/clock.ts'
import type { MachineId, Sealed, SessionId } from '../protocol/wire/ids.ts'
import type { MachineRecord, SessionRecord } from '../protocol/wire/records.ts'
import type { Refused, Rest } from './rest.ts'
import type { LiveSocket } from './socket.ts'

/** `seq` rises with each new message; `thinking` is what its wrapper last said while alive. */
export interface AccountSession extends SessionRecord {
  thinking: boolean
}

export interface SettingsCell {
  value: Sealed | null
  version: number
}

export type AccountChange =
  /** All lists were read again; the rows that changed by it were told one by one before. */
  | { type: 'listed' }
  | { type: 'session'; session: AccountSession }
  | { type: 'session-removed'; id: SessionId }
  | { type: 'machine'; machine: MachineRecord }
  | { type: 'machine-removed'; id: MachineId }
  | { type: 'settings'; settings: SettingsCell }

export type AccountFeedState = { type: 'catching-up' } | { type: 'live' } | { type: 'away' } | { type: 'ended'; refusal: Refused }

/** Rows as the server has them: sealed. A cell never goes back to an older version. */
export interface AccountFeed {
  readonly sessions: ReadonlyMap<SessionId, AccountSession>
  readonly machines: ReadonlyMap<MachineId, MachineRecord>
  /** Undefined until first read. */
  readonly settings: SettingsCell | undefined
  readonly state: AccountFeedState
  /** Reads all lists again, as every connect does. */
  refresh(): void
  /** What this client itself wrote or opened, whose update the server does not send back to it. Older versions change nothing. */
  take(row: { session: SessionRecord } | { machine: MachineRecord } | { settings: SettingsCell }): void
  close(): void
}

export interface AccountFeedOptions {
  rest: Pick<Rest, 'call'>
  /** A connection of scope `app`. */
  socket: Pick<LiveSocket, 'state' | 'onState' | 'onUpdate' | 'onEphemeral'>
  onChange(change: AccountChange): void
  onState?: ((state: AccountFeedState) => void) | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

export declare function openAccountFeed(options: AccountFeedOptions): AccountFeed
