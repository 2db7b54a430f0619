import type { Connection } from './connection.ts'
import type { Tx } from './deps.ts'
import { verdictOn } from './failure.ts'

/** The COMMIT was sent and its answer is lost: what it would have stored may be stored. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

/** The first statement of a turn: whose lock makes all writes of an account happen one after the other. */
const lockAccounts = 'SELECT FROM account WHERE id = ANY($1) ORDER BY key FOR NO KEY UPDATE'

/**
 * One transaction. What is queued is sent at once and answered in order; when a statement fails, all after it do, so
 * the first error is the one that counts.
 */
export class Turn implements Tx {
  readonly #connection: Connection
  #queued: Promise<unknown>[] = []
  #failure: { error: unknown } | undefined
  #isOver = false

  constructor(connection: Connection, accounts: readonly string[]) {
    this.#connection = connection
    this.#queue(connection.command('BEGIN'))
    if (accounts.length > 0) this.send(lockAccounts, [accounts])
  }

  all<Row>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#firstError(this.#connection.all<Row>(sql, values))
  }

  get<Row>(sql: string, values: readonly unknown[]): Promise<Row | undefined> {
    return this.#firstError(this.#connection.get<Row>(sql, values))
  }

  run(sql: string, values: readonly unknown[]): Promise<number> {
    return this.#firstError(this.#connection.run(sql, values))
  }

  send(sql: string, values: readonly unknown[]): void {
    this.#queue(this.#connection.run(sql, values))
  }

  /** Runs a part that may fail alone: it is then rolled back, and the rest of the turn goes on. */
  async guard<T>(run: () => Promise<T>): Promise<T> {
    this.#queue(this.#connection.command('SAVEPOINT member'))
    try {
      const value = await run()
      this.#queue(this.#connection.command('RELEASE SAVEPOINT member'))
      await this.#allQueued()
      return value
    } catch (error) {
      if (verdictOn(error) !== 'refused') throw error
      this.#queued = []
      await this.#connection.command('ROLLBACK TO SAVEPOINT member; RELEASE SAVEPOINT member')
      // Only now: whatever the part sent after the statement that failed has been answered, with errors that do not count.
      this.#failure = undefined
      throw error
    }
  }

  /** Resolves once everything is stored. Rejects with `CommitUnknown` if only the answer is missing. */
  async commit(): Promise<void> {
    this.#isOver = true
    const committed = this.#connection.command('COMMIT').catch(asUnknown)
    committed.catch(() => {})
    try {
      await this.#allQueued()
    } catch (error) {
      // A statement that failed has ended the transaction; one without an answer says nothing about it.
      if (verdictOn(error) !== 'lost') throw error
    }
    const tag = await committed
    if (tag !== 'COMMIT') throw this.#failure?.error ?? new Error(`A transaction ended with ${tag}`)
  }

  /** Ends the transaction, whatever became of it. The connection is of no more use if this fails. */
  async rollBack(): Promise<void> {
    if (!this.#isOver) await this.#connection.command('ROLLBACK')
  }

  #queue(answer: Promise<unknown>): void {
    const first = this.#firstError(answer)
    first.catch(() => {})
    this.#queued.push(first)
  }

  async #allQueued(): Promise<void> {
    for (const answer of this.#queued.splice(0)) await answer
  }

  async #firstError<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      this.#failure ??= { error }
      throw this.#failure.error
    }
  }
}

function asUnknown(error: unknown): never {
  if (verdictOn(error) !== 'lost') throw error
  throw new CommitUnknown('It is not known whether the transaction was committed.', { cause: error })
}
