import { CannotStart } from '../exit.ts'
import { isPostgres } from '../store/open.ts'
import type { Bus } from './bus.ts'

/**
 * Opens the bus named by an option: `local` serves one instance, `postgres` those on one database, and `redis://…` or `rediss://…` several. Throws CannotStart for a
 * name without a driver, and when the driver cannot work with it.
 */
export async function openBus(url: string, on: { onError: (error: unknown) => void; store?: string }): Promise<Bus> {
  if (url === 'local') {
    const { openLocalBus } = await import('./local.ts')
    return openLocalBus(on)
  }
  if (url === 'postgres') {
    const { store } = on
    if (store === undefined || !isPostgres(store))
      throw new CannotStart('--bus postgres needs a store in PostgreSQL: --store postgres://<user>@<host>/<database>.')
    const { openPostgresBus } = await import('../../postgres/bus/bus.ts')
    return openPostgresBus(store, on)
  }
  if (/^rediss?:/.test(url)) {
    const { openRedisBus } = await import('../../redis/bus.ts')
    return openRedisBus(url, on)
  }
  throw new CannotStart(`--bus ${url.replace(/:.*/s, ':…')} is not known; this version has: local, postgres, redis://….`)
}
