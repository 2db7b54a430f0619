import type { Bus, BusEvent, Topic } from './bus.ts'

type Listener = (event: BusEvent) => void

/** The bus of a single instance: an event has reached every listener before `publish` returns, so none is ever lost. */
export function openLocalBus({ onError }: { onError: (error: unknown) => void }): Bus {
  const listenersByTopic = new Map<Topic, Set<Listener>>()

  return {
    isShared: false,
    publish(topic, event) {
      for (const listener of listenersByTopic.get(topic) ?? []) {
        try {
          listener(event)
        } catch (error) {
          onError(error)
        }
      }
    },
    async subscribe(topic, listener) {
      const listeners = listenersByTopic.get(topic) ?? new Set()
      listenersByTopic.set(topic, listeners.add(listener))
      return async () => {
        listeners.delete(listener)
        if (listeners.size === 0 && listenersByTopic.get(topic) === listeners) listenersByTopic.delete(topic)
      }
    },
    onLost: () => () => {},
    async close() {
      listenersByTopic.clear()
    }
  }
}
