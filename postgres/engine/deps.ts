import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import type { Damage } from '../../lib/store/damage.ts'

/** Statements of a transaction, or of a read. One is sent at a time, unless it is not waited for. */
export interface Queries {
  all<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>
  get<Row>(sql: string, values: readonly unknown[]): Promise<Row | undefined>
  /** Resolves to how many rows it changed. */
  run(sql: string, values: readonly unknown[]): Promise<number>
}

/** What a member of a turn writes with. After an error the transaction is lost, so a member must not catch one. */
export interface Tx extends Queries {
  /** Without waiting for the answer: an error of it fails the member like any other. */
  send(sql: string, values: readonly unknown[]): void
}

/**
 * Consecutive members of one kind do their work together: `run` of each is called, then `finish`, which resolves
 * the promises that `run` returned.
 */
export interface Tail {
  finish(tx: Tx): Promise<void>
}

export interface WriteOptions {
  /** Roughly how much it stores. */
  bytes?: number
  /** It may take some milliseconds, so only a few such share a turn. */
  isLong?: boolean
  tail?: Tail
}

/**
 * The accounts that a write locks before it runs, so that all writes of an account happen one after the other,
 * in every instance; `shared` for what belongs to none, or finds out which.
 */
export type Owner = AccountId | readonly AccountId[] | 'shared'

/** The dependencies of each part of the store. */
export interface Deps {
  /**
   * Runs in a transaction that it may share with others, and may run again after that was rolled back. Resolves
   * once it is committed. Rejects with what `run` threw, with `StoreFull` or `StoreBusy`.
   */
  write<T>(owner: Owner, run: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Each statement sees what is committed when it begins. May run again. */
  read<T>(run: (queries: Queries) => Promise<T>): Promise<T>
  /** All statements see the same moment. May run again. */
  snapshot<T>(run: (queries: Queries) => Promise<T>): Promise<T>
  damage: Damage
}
