import type { Bus } from '../../bus/bus.ts'
import type { Metrics } from './metrics.ts'

/** The same bus, counting what is published. */
export function watchBus(bus: Bus, metrics: Pick<Metrics, 'published'>): Bus {
  return {
    isShared: bus.isShared,
    publish(topic, event) {
      metrics.published(event)
      bus.publish(topic, event)
    },
    subscribe: (topic, listener) => bus.subscribe(topic, listener),
    onLost: listener => bus.onLost(listener),
    close: () => bus.close()
  }
}
