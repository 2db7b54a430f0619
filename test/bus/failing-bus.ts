import type { Bus, BusEvent, Topic } from '../../lib/bus/bus.ts'
import { busEvent } from '../../lib/bus/events.ts'
import { referenceTo } from '../../lib/bus/reference.ts'
import * as v from '../../lib/schema.ts'

type Listener = (event: BusEvent) => void
type OnError = (error: unknown) => void

/** One bus of several instances, in memory, that fails where a test says so. Between instances events travel as JSON. */
export interface FailingBus {
  /** One more instance's end of it. */
  open(on: { onError: OnError }): Bus
  /** What becomes of the next subscriptions, in order; those after them succeed. */
  readonly subscriptions: ('fails' | 'hangs')[]
  /** Lets the subscriptions that hang succeed after all. */
  endHanging(): void
  /** Whether listeners that leave, and ends that close, are told that this failed; they are gone all the same. */
  leavingFails: boolean
  closingFails: boolean
  /** What becomes of the next events between instances, in order; those after them arrive once. */
  readonly fates: ('arrives' | 'dropped' | 'repeated')[]
  /** What is published at one instance reaches the others no sooner than `release`, and there perhaps the last first. */
  hold(): void
  release(order?: 'as published' | 'last first'): void
  /** What was held is lost, and no end says so. */
  drop(): void
  /** One end, by when it opened, hears nothing more and what it publishes arrives nowhere, as if its instance were dead. */
  disconnect(index: number): void
  /** All ends say that they may have lost events, as after `dropped`. */
  lose(topic?: Topic): void
  /** All ends get this, as if another process had published it. */
  send(topic: Topic, frame: string): void
  /** Longer events reach other instances by reference; signals do not. */
  longest: number
  /** How many listeners a topic has now. */
  listeners(topic: Topic): number
}

interface End {
  readonly listeners: Map<Topic, Set<Listener>>
  readonly onLost: Set<(topic: Topic | undefined) => void>
  readonly onError: OnError
}

export function failingBus(): FailingBus {
  const ends = new Set<End>()
  const opened: End[] = []
  const held: (() => void)[] = []
  let isHolding = false
  let hanging = Promise.withResolvers<void>()

  function pass(from: End, topic: Topic, event: BusEvent): void {
    const frame = frameOf(event, control.longest)
    if (frame === undefined || !ends.has(from)) return
    for (const end of ends) {
      if (end === from) continue
      const fate = control.fates.shift() ?? 'arrives'
      for (let times = { arrives: 1, dropped: 0, repeated: 2 }[fate]; times > 0; times -= 1) {
        if (isHolding) held.push(() => receive(end, topic, frame))
        else receive(end, topic, frame)
      }
    }
  }

  const control: FailingBus = {
    open({ onError }) {
      const own: End = { listeners: new Map(), onLost: new Set(), onError }
      ends.add(own)
      opened.push(own)
      return {
        isShared: true,
        publish(topic, event) {
          tell(own, topic, event)
          pass(own, topic, event)
        },
        async subscribe(topic, listener) {
          const outcome = control.subscriptions.shift()
          if (outcome === 'fails') throw new Error('The bus takes no listener.')
          if (outcome === 'hangs') await hanging.promise
          const listeners = own.listeners.get(topic) ?? new Set()
          own.listeners.set(topic, listeners.add(listener))
          return async () => {
            listeners.delete(listener)
            if (control.leavingFails) throw new Error('The bus lets nobody go.')
          }
        },
        onLost(listener) {
          own.onLost.add(listener)
          return () => own.onLost.delete(listener)
        },
        async close() {
          own.listeners.clear()
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
    fates: [],
    hold() {
      isHolding = true
    },
    release(order = 'as published') {
      isHolding = false
      const frames = held.splice(0)
      for (const deliver of order === 'as published' ? frames : frames.reverse()) deliver()
    },
    drop() {
      isHolding = false
      held.length = 0
    },
    disconnect(index) {
      const end = opened[index]
      if (end) ends.delete(end)
    },
    lose(topic) {
      for (const { onLost } of ends) for (const listener of onLost) listener(topic)
    },
    send(topic, frame) {
      for (const end of ends) receive(end, topic, frame)
    },
    longest: 64 * 1024,
    listeners: topic => [...ends].reduce((sum, { listeners }) => sum + (listeners.get(topic)?.size ?? 0), 0)
  }
  return control
}

function frameOf(event: BusEvent, longest: number): string | undefined {
  const frame = JSON.stringify(event)
  if (frame.length <= longest) return frame
  const reference = referenceTo(event)
  if (reference) return JSON.stringify(reference)
  return event.type === 'signal' ? undefined : frame
}

function receive(end: End, topic: Topic, frame: string): void {
  if (!end.listeners.get(topic)?.size) return
  let event: BusEvent
  try {
    event = v.parse(busEvent, JSON.parse(frame))
  } catch (error) {
    end.onError(error)
    return
  }
  tell(end, topic, event)
}

function tell({ listeners, onError }: End, topic: Topic, event: BusEvent): void {
  for (const listener of listeners.get(topic) ?? []) {
    try {
      listener(event)
    } catch (error) {
      onError(error)
    }
  }
}
