import type { Database, Statement } from 'better-sqlite3'

/**
 * The same database, except that a statement is prepared when it first runs. The store has some 450, most of which a
 * server seldom or never needs: preparing all would be a tenth of the work at its start, and 2 MB.
 */
export function preparedLater(database: Database): Database {
  const prepare = (sql: string) => new LaterStatement(() => database.prepare(sql))
  return Object.assign(Object.create(database), { prepare })
}

/** What the store uses of a statement. */
type Used = Pick<Statement, 'run' | 'get' | 'all' | 'iterate'> & { pluck(): Used }

class LaterStatement implements Used {
  readonly #prepare: () => Statement
  #prepared: Statement | undefined
  #isPlucked = false

  constructor(prepare: () => Statement) {
    this.#prepare = prepare
  }

  pluck(): this {
    this.#isPlucked = true
    return this
  }

  run(...values: unknown[]) {
    return this.#statement().run(...values)
  }

  get(...values: unknown[]) {
    return this.#statement().get(...values)
  }

  all(...values: unknown[]) {
    return this.#statement().all(...values)
  }

  iterate(...values: unknown[]) {
    return this.#statement().iterate(...values)
  }

  #statement(): Statement {
    this.#prepared ??= this.#isPlucked ? this.#prepare().pluck() : this.#prepare()
    return this.#prepared
  }
}
