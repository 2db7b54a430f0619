import { readMigrations } from '../lib/store/migrate.ts'
import type { Store } from '../lib/store/store.ts'
import { accounts } from './access/accounts.ts'
import { devices } from './access/devices.ts'
import { nonces } from './access/nonces.ts'
import { pairingRequests } from './access/pairing-requests.ts'
import { pairings } from './access/pairings.ts'
import { renewals } from './access/renewals.ts'
import { signup } from './access/signup.ts'
import { tokens } from './access/tokens.ts'
import { users } from './access/users.ts'
import { type OpenDatabaseDeps, prepareDatabase } from './engine/database.ts'
import type { Deps } from './engine/deps.ts'
import { openEngine } from './engine/engine.ts'
import type { LaneDeps } from './engine/lane.ts'
import { readTime } from './engine/time.ts'

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

function partsOf(deps: Deps): Partial<Store> {
  return {
    ...accounts(deps),
    ...signup(deps),
    ...users(deps),
    ...tokens(deps),
    ...devices(deps),
    ...renewals(deps),
    ...pairingRequests(deps),
    ...nonces(deps),
    time: () => deps.read(readTime),
    ...pairings(deps)
  }
}
