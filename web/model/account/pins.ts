import type { Pin } from '../../../lib/client/index.ts'
import { type DeviceDb, deviceDb } from '../../core/device-db.ts'

/** The sessions and machines that are known to name what they seal. Stored permanently, so that no server can undo it. */
interface Pins {
  of(target: string): Pin
}

/** Resolves when the stored pins are loaded. If the browser cannot store anything, they are learned again each time. */
export async function openPins(db: () => Promise<Pick<DeviceDb, 'read' | 'write'>> = deviceDb): Promise<Pins> {
  const read = async (): Promise<string[]> => {
    const kept = await (await db()).read(entry).catch(() => undefined)
    return Array.isArray(kept) ? kept.filter(each => typeof each === 'string') : []
  }
  const known = new Set(await read().catch(() => []))
  let work: Promise<unknown> = Promise.resolve()
  const keep = async (): Promise<void> => {
    // Another tab may have learned others.
    const all = [...new Set([...(await read()), ...known])]
    await (await db()).write(entry, all.slice(-mostKept))
  }
  return {
    of: target => ({
      get isSet() {
        return known.has(target)
      },
      set() {
        if (known.has(target)) return
        known.add(target)
        work = work.then(keep).catch(() => {})
      }
    })
  }
}

const entry = 'pins'
const mostKept = 5_000
