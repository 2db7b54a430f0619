import { type Bus, limitsTopic } from '../../lib/bus/bus.ts'
import { type LimitName, limits } from '../../lib/server/limits.ts'

/** What the instances on a bus tell each other of a limit. */
export async function listenToLimit(bus: Bus, name: LimitName) {
  let toldMs = 0
  const { promise: used, resolve } = Promise.withResolvers<void>()
  await bus.subscribe(limitsTopic, event => {
    if (event.type !== 'limits-used') return
    for (const { limit, ms } of event.uses) if (limit === name) toldMs += ms
    if (toldMs >= (limits[name].burst / limits[name].perSecond) * 1000) resolve()
  })
  return {
    /** Resolves once as much was told as one burst. */
    used
  }
}

/** Whether this comes true while few requests are made: what all instances hear reaches each of them at about the same time. */
export async function isSoSoon(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let looks = 0; looks < 10; looks += 1) if (await isSo()) return true
  return false
}
