import type { Bus, BusEvent, Topic } from '../../lib/bus/bus.ts'

type Listener = (event: BusEvent) => void

/** One bus of several instances, in memory, that fails where a test says so. */
export interface FailingBus {
  /** One more instance's end of it. */
  open(on: { onError: (error: unknown) => void }): Bus
  /** What becomes of the next subscriptions, in order; those after them succeed. */
  readonly subscriptions: ('fails' | 'hangs')[]
  /** Lets the subscriptions that hang succeed after all. */
  endHanging(): void
  /** Whether listeners that leave, and ends that close, are told that this failed; they are gone all the same. */
  leavingFails: boolean
  closingFails: boolean
  /** What is published at one instance reaches the others no sooner than `release`. */
  hold(): void
  release(): void
  /** How many listeners a topic has now. */
  listeners(topic: Topic): number
}

export function failingBus(): FailingBus {
  const ends = new Set<Map<Topic, Set<Listener>>>()
  const held: (() => void)[] = []
  let isHolding = false
  let hanging = Promise.withResolvers<void>()

  const control: FailingBus = {
    open({ onError }) {
      const own = new Map<Topic, Set<Listener>>()
      ends.add(own)
      const tell = (end: typeof own, topic: Topic, event: BusEvent) => {
        for (const listener of end.get(topic) ?? []) {
          try {
            listener(event)
          } catch (error) {
            onError(error)
          }
        }
      }
      return {
        publish(topic, event) {
          tell(own, topic, event)
          for (const end of ends) {
            if (end === own) continue
            if (isHolding) held.push(() => tell(end, topic, event))
            else tell(end, topic, event)
          }
        },
        async subscribe(topic, listener) {
          const outcome = control.subscriptions.shift()
          if (outcome === 'fails') throw new Error('The bus takes no listener.')
          if (outcome === 'hangs') await hanging.promise
          const listeners = own.get(topic) ?? new Set()
          own.set(topic, listeners.add(listener))
          return async () => {
            listeners.delete(listener)
            if (control.leavingFails) throw new Error('The bus lets nobody go.')
          }
        },
        async close() {
          own.clear()
          ends.delete(own)
          if (control.closingFails) throw new Error('The bus does not close.')
        }
      }
    },
    subscriptions: [],
    endHanging() {
      hanging.resolve()
      hanging = Promise.withResolvers()
    },
    leavingFails: false,
    closingFails: false,
    hold() {
      isHolding = true
    },
    release() {
      isHolding = false
      for (const deliver of held.splice(0)) deliver()
    },
    listeners: topic => [...ends].reduce((sum, end) => sum + (end.get(topic)?.size ?? 0), 0)
  }
  return control
}
