import type { Clock } from '../../async/clock.ts'
import { Deadlines } from '../../async/deadlines.ts'
import { every, type Repeating } from '../../async/every.ts'
import { type Bus, type BusEvent, limitsTopic } from '../../bus/bus.ts'
import type { AccountId } from '../../protocol/wire/ids.ts'

const tellEveryMs = 200
/** From so many sockets of an account on, the instances that have some tell each other how many. Most accounts stay below it. */
const toldFrom = 8
/** An instance that does not answer for so long, when its sockets leave no room, is gone, and they with it. */
export const answerSeatsWithinMs = 3_000
/** In one event, which then fits into one notification of PostgreSQL. */
const mostAnEvent = 64

/** An account with sockets here. */
interface Seated {
  readonly account: AccountId
  /** What closes each of its sockets, in the order in which they came. */
  readonly own: Set<() => void>
  /** How many other instances said that they hold. */
  readonly elsewhere: Map<string, number>
  /** How many the others believe to be here. */
  told: number
  /** The instances that have not answered yet, while they are asked. */
  asked: Set<string> | undefined
}

interface SocketSeatsDeps {
  bus: Bus
  clock: Clock
  onError: (error: unknown) => void
}

/** How many sockets each account has, at all instances together. What others hold is known a moment later, as with rate limits. */
export class SocketSeats {
  readonly #deps: SocketSeatsDeps
  readonly #instance: string
  readonly #most: number
  readonly #isShared: boolean
  readonly #seated = new Map<AccountId, Seated>()
  /** What others should hear of with the next event. */
  readonly #toTell = new Set<AccountId>()
  readonly #toAsk = new Set<AccountId>()
  readonly #answers: Deadlines
  #telling: Repeating | undefined
  #leave: (() => Promise<void>) | undefined

  constructor(deps: SocketSeatsDeps, instance: string, most: number) {
    this.#deps = deps
    this.#instance = instance
    this.#most = most
    this.#isShared = deps.bus.isShared && Number.isFinite(most)
    this.#answers = new Deadlines(deps.clock, answerSeatsWithinMs)
  }

  async open(): Promise<void> {
    if (!this.#isShared) return
    const { bus, clock, onError } = this.#deps
    this.#leave = await bus.subscribe(limitsTopic, event => this.#hear(event))
    this.#telling = every(clock, tellEveryMs, () => this.#tell(), onError)
  }

  /** What releases the seat, or undefined if all are taken. `giveUp` closes its socket if others turn out to have taken it. */
  take(account: AccountId, giveUp: () => void): (() => void) | undefined {
    const seated = this.#seated.get(account) ?? this.#begin(account)
    if (seated.own.size + sum(seated.elsewhere.values()) >= this.#most) {
      this.#ask(seated)
      return undefined
    }
    const seat = () => giveUp()
    seated.own.add(seat)
    this.#changed(seated)
    return () => {
      if (seated.own.delete(seat)) this.#changed(seated)
    }
  }

  async close(): Promise<void> {
    this.#answers.close()
    await this.#telling?.close()
    if (this.#isShared) this.#tell()
    await this.#leave?.()
  }

  /** The others know how many they hold. */
  #begin(account: AccountId): Seated {
    const seated: Seated = { account, own: new Set(), elsewhere: new Map(), told: 0, asked: undefined }
    this.#seated.set(account, seated)
    if (this.#isShared) this.#toAsk.add(account)
    return seated
  }

  #changed(seated: Seated): void {
    if (this.#isShared && this.#toldOf(seated) !== seated.told) this.#toTell.add(seated.account)
    if (seated.own.size === 0 && seated.told === 0) this.#forget(seated)
  }

  #toldOf({ own, elsewhere }: Seated): number {
    return own.size + sum(elsewhere.values()) >= toldFrom ? own.size : 0
  }

  #forget(seated: Seated): void {
    seated.asked = undefined
    this.#seated.delete(seated.account)
  }

  #tell(): void {
    const { bus } = this.#deps
    const asked = [...this.#toAsk]
    this.#toAsk.clear()
    for (let at = 0; at < asked.length; at += mostAnEvent)
      bus.publish(limitsTopic, { type: 'seats-asked', instance: this.#instance, accounts: asked.slice(at, at + mostAnEvent) })
    const seats = [...this.#toTell].map(account => this.#toldNow(account))
    this.#toTell.clear()
    for (let at = 0; at < seats.length; at += mostAnEvent)
      bus.publish(limitsTopic, { type: 'seats-held', instance: this.#instance, seats: seats.slice(at, at + mostAnEvent) })
  }

  #toldNow(account: AccountId): { account: AccountId; sockets: number } {
    const seated = this.#seated.get(account)
    if (!seated) return { account, sockets: 0 }
    seated.told = this.#toldOf(seated)
    if (seated.own.size === 0) this.#forget(seated)
    return { account, sockets: seated.told }
  }

  #hear(event: BusEvent): void {
    if (event.type === 'seats-asked' && event.instance !== this.#instance) {
      for (const account of event.accounts) this.#answer(account)
    }
    if (event.type === 'seats-held' && event.instance !== this.#instance) {
      for (const { account, sockets } of event.seats) this.#hearHeld(account, event.instance, sockets)
    }
  }

  #answer(account: AccountId): void {
    // What it has not told yet it tells in any case.
    if ((this.#seated.get(account)?.told ?? 0) > 0) this.#toTell.add(account)
  }

  #hearHeld(account: AccountId, instance: string, sockets: number): void {
    const seated = this.#seated.get(account)
    if (!seated) return
    seated.asked?.delete(instance)
    if (sockets > 0) seated.elsewhere.set(instance, sockets)
    else seated.elsewhere.delete(instance)
    this.#changed(seated)
    if (this.#excess(seated) > 0) this.#ask(seated)
  }

  /** Whether those who leave no room still run and hold as many. Those who do not answer count no longer. */
  #ask(seated: Seated): void {
    if (!this.#isShared || seated.asked || seated.elsewhere.size === 0) return
    const asked = new Set(seated.elsewhere.keys())
    seated.asked = asked
    this.#toAsk.add(seated.account)
    this.#answers.begin(() => {
      if (seated.asked !== asked) return
      seated.asked = undefined
      for (const silent of asked) seated.elsewhere.delete(silent)
      for (const giveUp of [...seated.own].slice(seated.own.size - this.#excess(seated))) giveUp()
      this.#changed(seated)
    })
  }

  /**
   * How many sockets must close here, since several instances may take the last seats at the same moment. Each looks only at
   * those whose ids come before its own, so that no two of them close sockets for each other.
   */
  #excess({ own, elsewhere }: Seated): number {
    const before = [...elsewhere].filter(([instance]) => instance < this.#instance).map(([, sockets]) => sockets)
    return Math.min(Math.max(own.size + sum(before) - this.#most, 0), own.size)
  }
}

function sum(counts: Iterable<number>): number {
  let sum = 0
  for (const count of counts) sum += count
  return sum
}
