import { createBackoff } from '../../lib/async/backoff.ts'
import { StoreBroken, StoreBusy } from '../../lib/store/store.ts'
import type { Connection } from './connection.ts'
import type { Queries } from './deps.ts'
import { verdictOn } from './failure.ts'
import { inTime, Progress, patienceMs } from './patience.ts'

/**
 * Connections for reads, opened when they are needed and used by one read at a time. A read that loses its
 * connection is run again on another; one that waits for a connection too long, while none becomes free, is rejected.
 */
export class Readers {
  readonly #connect: () => Promise<Connection>
  readonly #most: number
  #idle: Connection[] = []
  #open = 0
  /** In their order; each gets a connection, or room for one. */
  #waiting: ((connection: Connection | undefined) => void)[] = []
  #whenIdle: (() => void)[] = []
  readonly #progress = new Progress()
  #isEnded = false

  constructor({ connect, most }: { connect(): Promise<Connection>; most: number }) {
    this.#connect = connect
    this.#most = most
  }

  read<T>(run: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#attempt(run)
  }

  snapshot<T>(run: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#attempt(async connection => {
      const begun = connection.command('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      begun.catch(() => {})
      try {
        const value = await run(connection)
        await begun
        return value
      } finally {
        if (!connection.isLost) await connection.command('COMMIT')
      }
    })
  }

  async end(): Promise<void> {
    this.#isEnded = true
    while (this.#open > this.#idle.length) await new Promise<void>(resolve => this.#whenIdle.push(resolve))
    await Promise.all(this.#idle.splice(0).map(connection => connection.close()))
  }

  async #attempt<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    const backoff = createBackoff({ firstMs: 20, longestMs: 500 })
    const until = performance.now() + patienceMs
    for (;;) {
      if (this.#isEnded) throw new StoreBroken('The store is closed.')
      try {
        return await this.#use(run, until)
      } catch (error) {
        const verdict = verdictOn(error)
        if (verdict === 'refused') throw error
        if (verdict === 'slow') throw new StoreBusy('The database took too long.', { cause: error })
        if (performance.now() >= this.#progress.extend(until)) throw new StoreBusy('The database cannot be reached.', { cause: error })
      }
      await new Promise(resolve => setTimeout(resolve, backoff.nextMs()))
    }
  }

  async #use<T>(run: (connection: Connection) => Promise<T>, until: number): Promise<T> {
    const connection = await this.#take(until)
    try {
      return await run(connection)
    } catch (error) {
      if (verdictOn(error) === 'lost') connection.drop()
      throw error
    } finally {
      if (connection.isLost) this.#giveUp()
      else this.#giveBack(connection)
    }
  }

  async #take(until: number): Promise<Connection> {
    const idle = this.#idle.pop()
    if (idle) return idle
    if (this.#open < this.#most) this.#open++
    else {
      const free = await this.#oneIsFree(until)
      if (free) return free
    }
    return this.#openAnother(this.#progress.extend(until))
  }

  async #openAnother(until: number): Promise<Connection> {
    const opening = this.#connect()
    try {
      return await inTime(opening, until)
    } catch (error) {
      opening.then(
        connection => this.#giveBack(connection),
        () => this.#giveUp()
      )
      throw error
    }
  }

  async #oneIsFree(until: number): Promise<Connection | undefined> {
    const free = Promise.withResolvers<Connection | undefined>()
    const waitOn = (): NodeJS.Timeout => setTimeout(look, Math.max(0, Math.ceil(this.#progress.extend(until) - performance.now())))
    const look = () => {
      if (this.#progress.extend(until) > performance.now()) timer = waitOn()
      else {
        this.#waiting = this.#waiting.filter(resolve => resolve !== free.resolve)
        free.reject(new StoreBusy('All connections to the database are busy.'))
      }
    }
    let timer = waitOn()
    this.#waiting.push(free.resolve)
    return free.promise.finally(() => clearTimeout(timer))
  }

  #giveBack(connection: Connection): void {
    this.#progress.make()
    const next = this.#waiting.shift()
    if (next) next(connection)
    else this.#idle.push(connection)
    this.#tellEnd()
  }

  #giveUp(): void {
    const next = this.#waiting.shift()
    if (next) next(undefined)
    else this.#open--
    this.#tellEnd()
  }

  #tellEnd(): void {
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}
