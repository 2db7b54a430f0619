import type { Clock } from '../async/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { AccountId, ConnectionId, DeviceId, TokenId } from '../protocol/wire/ids.ts'
import type { Scope } from '../protocol/wire/scopes.ts'
import type { Quotas } from '../store/quotas.ts'
import type { TokenKind } from '../store/rows.ts'
import type { Store } from '../store/store.ts'

/** The dependencies of actions; each declares the fields it needs. */
export interface Deps {
  store: Store
  bus: Bus
  /** Wall clock in milliseconds, for displayed and stored times. */
  now: () => number
  /** The store's time, for expiry: it does not jump with the clock of a machine. */
  time: () => number
  /** Monotonic clock, for waits and limits. */
  clock: Clock
  /** An account's quotas. */
  quotas: (account: AccountId) => Quotas
  /** A new id: 120 random bits, lower case, safe in URLs, without a colon. */
  newId: () => string
}

/**
 * Who requests an action reserved for the owner of the server: a caller, whose account is checked, or
 * `operator`, who can read the data directory and could do all of it anyway.
 */
export type Asker = Caller | 'operator'

/** The caller, once the token was found valid. */
export interface Caller {
  account: AccountId
  token: TokenId
  kind: TokenKind
  scopes: readonly Scope[]
  /** Null for a named token. */
  device: DeviceId | null
  /** The connection that does not need this call's changes. */
  skip: ConnectionId | undefined
}
