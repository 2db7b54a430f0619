import type { Clock } from '../async/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { AccountId, ConnectionId, DeviceId, TokenId } from '../protocol/wire/ids.ts'
import type { Scope } from '../protocol/wire/scopes.ts'
import type { Quotas } from '../store/quotas.ts'
import type { TokenKind } from '../store/rows.ts'
import type { Store } from '../store/store.ts'

/** What actions work with; each takes the fields it needs. */
export interface Deps {
  store: Store
  bus: Bus
  /** Wall clock in milliseconds, for what people read and what is stored. */
  now: () => number
  /** The store's time, for whatever ends: it does not jump with the clock of a machine. */
  time: () => number
  /** Monotonic clock, for waits and limits. */
  clock: Clock
  /** What an account may keep. */
  quotas: (account: AccountId) => Quotas
  /** A new id: 120 random bits, lower case, safe in URLs, without a colon. */
  newId: () => string
}

/**
 * Who asks for what only the owner of the server may do: a caller, whose account is looked at, or `operator`, whoever can read
 * the data directory and could do all of it anyway.
 */
export type Asker = Caller | 'operator'

/** Who asks, once the token was found good. */
export interface Caller {
  account: AccountId
  token: TokenId
  kind: TokenKind
  scopes: readonly Scope[]
  /** Null for a named token. */
  device: DeviceId | null
  /** The connection that need not hear of what this call changes. */
  skip: ConnectionId | undefined
}
