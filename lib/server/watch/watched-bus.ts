import type { Bus } from '../../bus/bus.ts'
import type { Metrics } from './metrics.ts'

/** The same bus, counting what is published. */
export function watchBus(bus: Bus, metrics: Pick<Metrics, 'published'>): Bus {
  return {
    publish(topic, event) {
      metrics.published(event)
      bus.publish(topic, event)
    },
    subscribe: (topic, listener) => bus.subscribe(topic, listener),
    close: () => bus.close()
  }
}
