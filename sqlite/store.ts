import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { readMigrations } from '../lib/store/migrate.ts'
import type { Store, StoreBroken } from '../lib/store/store.ts'
import { accessKeys } from './access-keys.ts'
import { accounts } from './accounts.ts'
import { artifacts } from './artifacts.ts'
import { attachments } from './attachments.ts'
import { cells } from './cells.ts'
import { changes } from './changes.ts'
import { CommitQueue, type CommitQueueDeps } from './commit-queue.ts'
import { openDamage } from './damage.ts'
import { type OpenDatabaseDeps, openDatabase } from './database.ts'
import { devices } from './devices.ts'
import { noteEndedTokens } from './ended-tokens.ts'
import { kv } from './kv.ts'
import { openLog } from './log.ts'
import { machines } from './machines.ts'
import { messages } from './messages.ts'
import { nonces } from './nonces.ts'
import { notices } from './notices.ts'
import { pairingRequests } from './pairing-requests.ts'
import { pairings } from './pairings.ts'
import { presence } from './presence.ts'
import { pushTokens } from './push-tokens.ts'
import { receipts } from './receipts.ts'
import { removal } from './removal.ts'
import { renewals } from './renewals.ts'
import { openReserve } from './reserve.ts'
import { safekeeping } from './safekeeping.ts'
import { sessions } from './sessions.ts'
import { signup } from './signup.ts'
import { storage } from './storage.ts'
import { tokens } from './tokens.ts'
import { usage } from './usage.ts'
import { users } from './users.ts'

export interface SqliteStoreDeps {
  dataDirectory: string
  onBroken: (reason: StoreBroken) => void
  clock: () => number
  onCommit?: CommitQueueDeps['onCommit'] | undefined
  onMigrated?: OpenDatabaseDeps['onMigrated']
}

/** Opens the store in one SQLite file, which is created when missing. Throws `CannotStart` as `openStore` says. */
export async function openSqliteStore(
  file: string,
  { dataDirectory, onBroken, clock, onCommit, onMigrated }: SqliteStoreDeps
): Promise<Store> {
  const { database, close } = await openDatabase(file, { dataDirectory, clock, migrations: readMigrations('sqlite/'), onMigrated })
  try {
    return storeIn(database, close, { file, dataDirectory, onBroken, clock, onCommit })
  } catch (error) {
    close()
    throw error
  }
}

function storeIn(
  database: Database,
  close: () => void,
  { file, dataDirectory, onBroken, clock, onCommit }: SqliteStoreDeps & { file: string }
): Store {
  const reserve = openReserve(dirname(file))
  const log = openLog(database, clock)
  const queue = new CommitQueue({ database, onBroken, onCommit, reserve, log, beside: noteEndedTokens(database, dataDirectory) })
  const deps = { database, queue, damage: openDamage(), reserve, log }
  return {
    ...accounts(deps),
    ...signup(deps),
    ...users(deps),
    ...tokens(deps),
    ...devices(deps),
    ...renewals(deps),
    ...pairingRequests(deps),
    ...nonces(deps),
    time: () => queue.read(clock),
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
    ...safekeeping(deps),
    async close() {
      try {
        await queue.end()
      } finally {
        close()
      }
    }
  }
}
