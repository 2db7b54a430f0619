import { type Bus, type BusEvent, limitsTopic } from '../../../bus/bus.ts'
import type { Deps } from '../../deps.ts'

const wrongCodesAllowed = 10
const lockedForMs = 60_000

type LockDeps = Pick<Deps, 'clock' | 'time'> & { bus: Bus }

/** Ten wrong setup codes, at any instances and from any addresses, block attempts for a minute at all of them. */
export class SetupLock {
  readonly #deps: LockDeps
  readonly #instance: string
  #wrong = 0
  #lockedUntil = 0
  #leave: (() => Promise<void>) | undefined

  constructor(deps: LockDeps, instance: string) {
    this.#deps = deps
    this.#instance = instance
  }

  async open(): Promise<void> {
    const { bus } = this.#deps
    if (bus.isShared) this.#leave = await bus.subscribe(limitsTopic, event => this.#hear(event))
  }

  get lockedForS(): number {
    return Math.max(Math.ceil((this.#lockedUntil - this.#deps.clock.now()) / 1000), 0)
  }

  countWrong(): void {
    const { bus, time } = this.#deps
    const isLast = this.#wrong + 1 >= wrongCodesAllowed
    this.#count(isLast, 0)
    if (bus.isShared) bus.publish(limitsTopic, { type: 'setup-code-wrong', instance: this.#instance, at: time(), isLast })
  }

  async close(): Promise<void> {
    await this.#leave?.()
  }

  // An instance that started later, or was cut off, counted fewer: the one that locks decides for all.
  #hear(event: BusEvent): void {
    if (event.type !== 'setup-code-wrong' || event.instance === this.#instance) return
    this.#count(event.isLast || this.#wrong + 1 >= wrongCodesAllowed, Math.max(this.#deps.time() - event.at, 0))
  }

  #count(isLast: boolean, agoMs: number): void {
    this.#wrong = isLast ? 0 : this.#wrong + 1
    if (isLast) this.#lockedUntil = Math.max(this.#lockedUntil, this.#deps.clock.now() + lockedForMs - agoMs)
  }
}
