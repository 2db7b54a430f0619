import type { Database } from 'better-sqlite3'
import { StoreBroken, StoreBusy, StoreFull } from '../../lib/store/store.ts'
import { verdictOn } from '../file/failure.ts'
import type { Log } from '../file/log.ts'
import type { Reserve } from '../file/reserve.ts'

/** A turn stops the event loop until it is on disk. With more members, sharing its sync saves little more. */
const mostMembers = 128
/** Members that may take some milliseconds each. */
const mostLong = 8
/** How much a turn writes before the event loop continues. */
const mostBytes = 4 * 1024 * 1024
const busyPauseMs = 20
/** A program may lock the database briefly, for example to copy it; a client still gets the error before its own timeout. */
const busyPatienceMs = 2_000

/**
 * Work that members of one kind defer within their turn and do together, such as a counter they all
 * move. It runs before a member of another kind, and before the commit.
 */
export interface Tail {
  finish(): void
  /** Deferred work was rolled back with its transaction. */
  forget(): void
}

interface Member {
  run: () => unknown
  bytes: number
  isLong: boolean
  tail: Tail | undefined
  resolve: () => void
  reject: (error: unknown) => void
}
type Answer = () => void

export interface CommitQueueDeps {
  database: Database
  /** Called once, with the cause, when nothing can be guaranteed any more. */
  onBroken: (reason: StoreBroken) => void
  /** Called after each commit, with its start and end. Its errors change nothing that was committed. */
  onCommit?: ((turn: { members: number; ms: number }) => void) | undefined
  /**
   * Reserved space, released when the disk is full; until it is back, writes that need space are
   * rejected.
   */
  reserve?: Pick<Reserve, 'release' | 'isReleased'> | undefined
  /** While the WAL is too long, writes that need space are rejected. */
  log?: Pick<Log, 'isTooLong'> | undefined
  /** Called at the start and end of a turn, for what has to be on disk next to the database by then. */
  beside?: { beforeCommit(): void; undone(): void } | undefined
}

/**
 * Every write passes through here, in order of arrival. All that arrive in one turn of the event loop
 * share one transaction and one sync; each is answered only after it. A member is synchronous, touches
 * nothing but the database, and may be run twice: its first effects have then been rolled back.
 */
export class CommitQueue {
  readonly #database: Database
  readonly #onBroken: (reason: StoreBroken) => void
  readonly #onCommit: CommitQueueDeps['onCommit']
  readonly #beside: CommitQueueDeps['beside']
  readonly #reserve: CommitQueueDeps['reserve']
  readonly #log: CommitQueueDeps['log']
  readonly #begin
  readonly #commit
  readonly #rollback
  readonly #savepoint
  readonly #release
  readonly #undo
  #waiting: Member[] = []
  #isScheduled = false
  #busySince: number | undefined
  #refusal: StoreBroken | undefined
  #whenEmpty: (() => void)[] = []

  constructor({ database, onBroken, onCommit, beside, reserve, log }: CommitQueueDeps) {
    this.#database = database
    this.#onBroken = onBroken
    this.#onCommit = onCommit
    this.#beside = beside
    this.#reserve = reserve
    this.#log = log
    this.#begin = database.prepare<[]>('BEGIN IMMEDIATE')
    this.#commit = database.prepare<[]>('COMMIT')
    this.#rollback = database.prepare<[]>('ROLLBACK')
    this.#savepoint = database.prepare<[]>('SAVEPOINT member')
    this.#release = database.prepare<[]>('RELEASE member')
    this.#undo = database.prepare<[]>('ROLLBACK TO member')
  }

  /**
   * Resolves with what `run` returned once that is on disk; rejects with what it threw, with
   * `StoreFull`, `StoreBusy` or `StoreBroken`. `bytes` is roughly how much it stores; `isLong` says that it
   * may take some milliseconds, so that only a few such share a turn; `tail` is what it defers to be
   * done with others of its kind.
   */
  write<T>(run: () => T, { bytes = 0, isLong = false, tail }: { bytes?: number; isLong?: boolean; tail?: Tail } = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#refusal) return reject(this.#refusal)
      if (bytes > 0 && this.#reserve?.isReleased()) return reject(new StoreFull('The disk has no space for this write.'))
      if (bytes > 0 && this.#log?.isTooLong()) return reject(new StoreBusy('Another program keeps reading the database.'))
      let value: T
      const keep = () => {
        value = run()
      }
      this.#waiting.push({ run: keep, bytes, isLong, tail, resolve: () => resolve(value), reject })
      this.#schedule()
    })
  }

  /** Runs at once: between turns no transaction is open, so only what is on disk can be seen. */
  async read<T>(run: () => T): Promise<T> {
    if (this.#refusal) throw this.#refusal
    try {
      return run()
    } catch (error) {
      throw verdictOn(error) === 'broken' ? this.#break(error) : error
    }
  }

  /** Commits what is waiting, and what arrives until it resolves; from then on everything is rejected. */
  async end(): Promise<void> {
    if (this.#isScheduled) await new Promise<void>(resolve => this.#whenEmpty.push(resolve))
    this.#refusal ??= new StoreBroken('The store is closed.')
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    const members = this.#nextTurn()
    const answers = this.#runTurn(members)
    if (answers === 'busy') this.#tryAgainSoon(members)
    else this.#answer(answers)
  }

  #answer(answers: readonly Answer[]): void {
    this.#isScheduled = false
    this.#busySince = undefined
    for (const answer of answers) answer()
    if (this.#waiting.length > 0) this.#schedule()
    else for (const resolve of this.#whenEmpty.splice(0)) resolve()
  }

  #nextTurn(): Member[] {
    let count = 0
    let bytes = 0
    let long = 0
    for (const member of this.#waiting) {
      bytes += member.bytes
      if (member.isLong) long++
      if (count === mostMembers || long > mostLong || (count > 0 && bytes > mostBytes)) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  // A savepoint for a member costs a copy of every page it touches, and members almost never fail. So they
  // run without one first; if one fails, the whole turn is rolled back and run again with each in its own
  // savepoint, where it fails alone.
  #runTurn(members: Member[]): Answer[] | 'busy' {
    if (this.#refusal) return rejectAll(members, this.#refusal)
    try {
      return this.#transact(members, runTogether)
    } catch (error) {
      if (verdictOn(error) !== 'refused') return this.#failTurn(members, error)
      const [only, ...others] = members
      if (only && others.length === 0) return [() => only.reject(error)]
    }
    try {
      return this.#transact(members, all => all.map(member => this.#runGuarded(member)))
    } catch (error) {
      return this.#failTurn(members, error)
    }
  }

  #transact(members: Member[], run: (members: Member[]) => Answer[]): Answer[] {
    const beganAt = this.#onCommit ? performance.now() : 0
    const answers = this.#commitWhole(members, run)
    this.#tell({ members: members.length, ms: performance.now() - beganAt })
    return answers
  }

  #commitWhole(members: Member[], run: (members: Member[]) => Answer[]): Answer[] {
    this.#begin.run()
    try {
      const answers = run(members)
      this.#beside?.beforeCommit()
      this.#commit.run()
      return answers
    } catch (error) {
      this.#rollBack(members)
      throw error
    }
  }

  // The rollback comes first: with a transaction left open by what fails here, no later one could begin.
  #rollBack(members: Member[]): void {
    try {
      if (this.#database.inTransaction) this.#rollback.run()
    } finally {
      for (const member of members) member.tail?.forget()
      this.#beside?.undone()
    }
  }

  // Commit listeners cannot affect what was committed: the callers still get their answers.
  #tell(turn: { members: number; ms: number }): void {
    try {
      this.#onCommit?.(turn)
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error))
    }
  }

  #runGuarded(member: Member): Answer {
    this.#savepoint.run()
    try {
      const [answer = () => {}] = runTogether([member])
      this.#release.run()
      return answer
    } catch (error) {
      if (verdictOn(error) !== 'refused') throw error
      this.#undo.run()
      this.#release.run()
      member.tail?.forget()
      return () => member.reject(error)
    }
  }

  #failTurn(members: Member[], error: unknown): Answer[] | 'busy' {
    switch (verdictOn(error)) {
      case 'busy':
        return this.#mayWaitLonger() ? 'busy' : rejectAll(members, new StoreBusy('Another program holds the database.', { cause: error }))
      case 'full':
        this.#reserve?.release()
        return rejectAll(members, new StoreFull('The disk has no space for this write.', { cause: error }))
      case 'broken':
        return rejectAll([...members, ...this.#waiting.splice(0)], this.#break(error))
      case 'refused':
        return rejectAll(members, error)
    }
  }

  #break(cause: unknown): StoreBroken {
    if (this.#refusal) return this.#refusal
    const reason = new StoreBroken(`The database failed: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause })
    this.#refusal = reason
    this.#onBroken(reason)
    return reason
  }

  // Only another program, such as a copy being made, can lock the database. Waiting for it inside SQLite
  // would block the event loop, so the turn waits here.
  #mayWaitLonger(): boolean {
    this.#busySince ??= performance.now()
    return performance.now() - this.#busySince < busyPatienceMs
  }

  #tryAgainSoon(members: Member[]): void {
    this.#waiting.unshift(...members)
    setTimeout(() => this.#flush(), busyPauseMs * (0.5 + Math.random()))
  }
}

function runTogether(members: Member[]): Answer[] {
  let tail: Tail | undefined
  const answers = members.map(member => {
    if (tail !== member.tail) tail?.finish()
    tail = member.tail
    member.run()
    return () => member.resolve()
  })
  tail?.finish()
  return answers
}

function rejectAll(members: Member[], error: unknown): Answer[] {
  return members.map(member => () => member.reject(error))
}
