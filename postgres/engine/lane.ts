import { createBackoff } from '../../lib/async/backoff.ts'
import { StoreBroken, StoreBusy, StoreFull } from '../../lib/store/store.ts'
import type { Connection } from './connection.ts'
import type { Tail, Tx } from './deps.ts'
import { verdictOn } from './failure.ts'
import { inTime, Progress, patienceMs } from './patience.ts'
import { CommitUnknown, Turn } from './turn.ts'

/** With more members, sharing a sync saves little more. */
const mostMembers = 128
/** Members that may take some milliseconds each. */
const mostLong = 8
/** How much one transaction writes before its members are answered. */
const mostBytes = 4 * 1024 * 1024
/** Transactions that block each other are repeated; whoever still fails after so many tries was unlucky. */
const mostTries = 8

export interface Member {
  accounts: readonly string[]
  run(tx: Tx): Promise<unknown>
  bytes: number
  isLong: boolean
  tail: Tail | undefined
  resolve(value: unknown): void
  reject(error: unknown): void
}
type Answer = () => void

interface WaitingMember extends Member {
  /** When it is told that the database is busy, unless its turn has begun. */
  until: number
}

export interface LaneDeps {
  connect(): Promise<Connection>
  /** Called after each commit. Its errors change nothing that was committed. */
  onCommit?: ((turn: { members: number; ms: number }) => void) | undefined
}

/**
 * A connection on which writes become transactions, one at a time. What arrives while one is open forms the next, so
 * that they share a sync; each is answered only after it. After the connection is lost, it opens another. Whoever waits for
 * a turn too long, while none ends, is rejected.
 */
export class Lane {
  readonly #connect: LaneDeps['connect']
  readonly #onCommit: LaneDeps['onCommit']
  #connection: Connection | undefined
  #opening: Promise<Connection> | undefined
  #waiting: WaitingMember[] = []
  #dismissal: NodeJS.Timeout | undefined
  readonly #progress = new Progress()
  #isRunning = false
  #refusal: StoreBroken | undefined
  #whenEmpty: (() => void)[] = []

  constructor({ connect, onCommit }: LaneDeps) {
    this.#connect = connect
    this.#onCommit = onCommit
  }

  push(member: Member): void {
    if (this.#refusal) {
      member.reject(this.#refusal)
      return
    }
    this.#waiting.push({ ...member, until: performance.now() + patienceMs })
    this.#dismissal ??= setTimeout(() => this.#dismiss(), patienceMs)
    if (this.#isRunning) return
    this.#isRunning = true
    setImmediate(() => this.#run())
  }

  /** Commits what is waiting; from then on everything is rejected. */
  async end(): Promise<void> {
    if (this.#isRunning) await new Promise<void>(resolve => this.#whenEmpty.push(resolve))
    this.#refusal ??= new StoreBroken('The store is closed.')
    clearTimeout(this.#dismissal)
    await this.#opening?.catch(() => {})
    await this.#connection?.close()
  }

  // One timer for all: nothing is done for each member, almost all of which have their turn at once.
  #dismiss(): void {
    const now = performance.now()
    const stays = this.#waiting.findIndex(member => this.#limitOf(member) > now)
    const dismissed = this.#waiting.splice(0, stays < 0 ? this.#waiting.length : stays)
    for (const member of dismissed) member.reject(new StoreBusy('The connection to the database is busy.'))
    const [next] = this.#waiting
    this.#dismissal = next && setTimeout(() => this.#dismiss(), Math.ceil(this.#limitOf(next) - now))
  }

  #limitOf({ until }: WaitingMember): number {
    return this.#progress.extend(until)
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answers = await this.#runTurn(this.#nextTurn())
      if (answers.length > 0) this.#progress.make()
      for (const answer of answers) answer()
    }
    this.#isRunning = false
    for (const resolve of this.#whenEmpty.splice(0)) resolve()
  }

  #nextTurn(): WaitingMember[] {
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

  // Savepoints cost a round trip for each member, and members almost never fail. So they run without first; if one
  // fails, the whole turn is rolled back and run again with each in its own savepoint, where it fails alone.
  async #runTurn(members: WaitingMember[]): Promise<Answer[]> {
    const backoff = createBackoff({ firstMs: 20, longestMs: 500 })
    const [longest] = members
    const until = longest ? this.#limitOf(longest) : 0
    let runAll = runTogether
    for (let tries = 1; ; tries++) {
      try {
        return await this.#transact(members, runAll, until)
      } catch (error) {
        const [only, ...others] = members
        switch (error instanceof CommitUnknown ? 'unknown' : verdictOn(error)) {
          case 'refused':
            if (runAll === runEachGuarded || (only && others.length === 0)) return rejectAll(members, error)
            runAll = runEachGuarded
            continue
          case 'again':
            if (tries === mostTries) return rejectAll(members, new StoreBusy('The database is too busy.', { cause: error }))
            break
          case 'lost':
            if (performance.now() < until) break
            this.#rejectLate(members, unreachable(error))
            return []
          case 'unknown':
            return rejectAll(members, unreachable(error))
          case 'slow':
            return rejectAll(members, new StoreBusy('The database took too long.', { cause: error }))
          case 'full':
            return rejectAll(members, new StoreFull('The disk of the database has no space for this write.', { cause: error }))
        }
        await new Promise(resolve => setTimeout(resolve, backoff.nextMs()))
      }
    }
  }

  // Those who came later may still see the database come back.
  #rejectLate(members: readonly WaitingMember[], error: StoreBusy): void {
    const now = performance.now()
    const isLate = (member: WaitingMember) => this.#limitOf(member) <= now
    this.#waiting.unshift(...members.filter(member => !isLate(member)))
    for (const member of members.filter(isLate)) member.reject(error)
  }

  async #transact(members: Member[], runAll: RunAll, until: number): Promise<Answer[]> {
    const beganAt = performance.now()
    const turn = new Turn(await this.#open(until), [...new Set(members.flatMap(({ accounts }) => accounts))])
    try {
      const answers = await runAll(members, turn)
      await turn.commit()
      this.#tell({ members: members.length, ms: performance.now() - beganAt })
      return answers
    } catch (error) {
      await this.#rollBack(turn, error)
      throw error
    }
  }

  async #rollBack(turn: Turn, error: unknown): Promise<void> {
    try {
      if (error instanceof CommitUnknown || verdictOn(error) === 'lost') throw error
      await turn.rollBack()
    } catch {
      this.#drop()
    }
  }

  async #open(until: number): Promise<Connection> {
    if (this.#connection?.isLost) this.#drop()
    if (this.#connection) return this.#connection
    this.#opening ??= this.#openAnother()
    return inTime(this.#opening, until)
  }

  async #openAnother(): Promise<Connection> {
    try {
      this.#connection = await this.#connect()
      return this.#connection
    } finally {
      this.#opening = undefined
    }
  }

  #drop(): void {
    this.#connection?.drop()
    this.#connection = undefined
  }

  #tell(turn: { members: number; ms: number }): void {
    try {
      this.#onCommit?.(turn)
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error))
    }
  }
}

type RunAll = (members: Member[], turn: Turn) => Promise<Answer[]>

async function runTogether(members: Member[], turn: Turn): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const group of groupsOf(members)) answers.push(...(await runGroup(group, turn)))
  return answers
}

async function runEachGuarded(members: Member[], turn: Turn): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const member of members) {
    try {
      answers.push(...(await turn.guard(() => runGroup([member], turn))))
    } catch (error) {
      if (verdictOn(error) !== 'refused') throw error
      answers.push(() => member.reject(error))
    }
  }
  return answers
}

/** Members one after the other, except that those with the same tail do their work together. */
async function runGroup(group: readonly Member[], turn: Turn): Promise<Answer[]> {
  const tail = group[0]?.tail
  const values = group.map(member => member.run(turn))
  for (const value of values) value.catch(() => {})
  await tail?.finish(turn)
  const all = await Promise.all(values)
  return group.map((member, index) => () => member.resolve(all[index]))
}

function groupsOf(members: readonly Member[]): Member[][] {
  const groups: Member[][] = []
  for (const member of members) {
    const last = groups.at(-1)
    if (member.tail && last?.[0]?.tail === member.tail) last.push(member)
    else groups.push([member])
  }
  return groups
}

function rejectAll(members: readonly Member[], error: unknown): Answer[] {
  return members.map(member => () => member.reject(error))
}

function unreachable(cause: unknown): StoreBusy {
  return new StoreBusy('The database cannot be reached.', { cause })
}
