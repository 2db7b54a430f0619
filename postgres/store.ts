import { type Migration, readMigrations } from '../lib/store/migrate.ts'
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
import { type EngineDeps, openEngine } from './engine/engine.ts'
import { readTime } from './engine/time.ts'
import { accessKeys } from './rows/access-keys.ts'
import { artifacts } from './rows/artifacts.ts'
import { attachments } from './rows/attachments.ts'
import { cells } from './rows/cells.ts'
import { changes } from './rows/changes.ts'
import { kv } from './rows/kv.ts'
import { machines } from './rows/machines.ts'
import { messages } from './rows/messages.ts'
import { notices } from './rows/notices.ts'
import { presence } from './rows/presence.ts'
import { pushTokens } from './rows/push-tokens.ts'
import { receipts } from './rows/receipts.ts'
import { removal } from './rows/removal.ts'
import { sessions } from './rows/sessions.ts'
import { storage } from './rows/storage.ts'
import { usage } from './rows/usage.ts'
import { work } from './rows/work.ts'

export interface PostgresStoreDeps extends EngineDeps {
  onMigrated?: OpenDatabaseDeps['onMigrated']
  /** The steps of the schema that the program knows; given by tests of a newer one. */
  migrations?: readonly Migration[]
}

/** Opens the store in a PostgreSQL database, whose tables are created if missing. Throws `CannotStart` as `openStore` says. */
export async function openPostgresStore(
  url: string,
  { onCommit, onBroken, onMigrated, migrations = readMigrations('postgres/') }: PostgresStoreDeps
): Promise<Store> {
  await prepareDatabase(url, { migrations, onMigrated })
  const { close, ...deps } = openEngine(url, migrations.length, { onCommit, onBroken })
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
    ...pairings(deps),
    ...sessions(deps),
    ...machines(deps),
    ...removal(deps),
    ...cells(deps),
    ...messages(deps),
    ...presence(deps),
    ...pushTokens(deps),
    ...notices(deps),
    ...kv(deps),
    ...artifacts(deps),
    ...changes(deps),
    ...receipts(deps),
    ...attachments(deps),
    ...accessKeys(deps),
    ...usage(deps),
    ...storage(deps),
    ...work(deps),
    canStoreUntold: true,
    close
  }
}
