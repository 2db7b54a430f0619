import type { Clock } from '../../async/clock.ts'
import { accountTopic, type Bus, instanceTopic } from '../../bus/bus.ts'
import type { AccountId } from '../../protocol/wire/ids.ts'
import type { RowRef } from '../../store/rows.ts'

/** An instance that has something answers at once; none is waited for longer. */
export const answerPresentWithinMs = 300

type OthersDeps = { bus: Bus; clock: Clock; newId: () => string }

/** What other instances have connected, asked when it matters: that is far rarer than the changes it would take to know it. */
export class OtherInstances {
  readonly #deps: OthersDeps
  readonly #instance: string
  readonly #waiting = new Map<string, (isPresent: boolean) => void>()
  #leave: (() => Promise<void>) | undefined

  constructor(deps: OthersDeps, instance: string) {
    this.#deps = deps
    this.#instance = instance
  }

  async open(): Promise<void> {
    const { bus } = this.#deps
    if (!bus.isShared) return
    this.#leave = await bus.subscribe(instanceTopic(this.#instance), event => {
      if (event.type === 'present') this.#waiting.get(event.id)?.(true)
    })
  }

  /** No answer in time means no: without the bus, a notification rather disturbs than is missing. */
  has(account: AccountId, of: 'watching-app' | RowRef): Promise<boolean> {
    const { bus, clock, newId } = this.#deps
    if (!bus.isShared) return Promise.resolve(false)
    const id = newId()
    return new Promise(resolve => {
      const settle = (isPresent: boolean) => {
        cancel()
        this.#waiting.delete(id)
        resolve(isPresent)
      }
      const cancel = clock.after(answerPresentWithinMs, () => settle(false))
      this.#waiting.set(id, settle)
      bus.publish(accountTopic(account), { type: 'present-asked', id, replyTo: instanceTopic(this.#instance), of })
    })
  }

  async close(): Promise<void> {
    for (const settle of [...this.#waiting.values()]) settle(false)
    await this.#leave?.()
  }
}
