import { readMigrations } from '../lib/store/migrate.ts'
import type { Store } from '../lib/store/store.ts'
import { type OpenDatabaseDeps, prepareDatabase } from './engine/database.ts'
import type { Deps } from './engine/deps.ts'
import { openEngine } from './engine/engine.ts'
import type { LaneDeps } from './engine/lane.ts'

export interface PostgresStoreDeps {
  onCommit?: LaneDeps['onCommit']
  onMigrated?: OpenDatabaseDeps['onMigrated']
}

/** Opens the store in a PostgreSQL database, whose tables are created if missing. Throws `CannotStart` as `openStore` says. */
export async function openPostgresStore(url: string, { onCommit, onMigrated }: PostgresStoreDeps): Promise<Partial<Store>> {
  await prepareDatabase(url, { migrations: readMigrations('postgres/'), onMigrated })
  const { close, ...deps } = openEngine(url, onCommit)
  return { ...partsOf(deps), close }
}

function partsOf(_deps: Deps): Partial<Store> {
  return {}
}
