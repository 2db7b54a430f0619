import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { openDamage } from '../lib/store/damage.ts'
import { readMigrations } from '../lib/store/migrate.ts'
import type { Store, StoreBroken } from '../lib/store/store.ts'
import { accounts } from './access/accounts.ts'
import { devices } from './access/devices.ts'
import { noteEndedTokens } from './access/ended-tokens.ts'
import { nonces } from './access/nonces.ts'
import { pairingRequests } from './access/pairing-requests.ts'
import { pairings } from './access/pairings.ts'
import { renewals } from './access/renewals.ts'
import { signup } from './access/signup.ts'
import { tokens } from './access/tokens.ts'
import { users } from './access/users.ts'
import { CommitQueue, type CommitQueueDeps } from './engine/commit-queue.ts'
import { preparedLater } from './engine/statements.ts'
import { type OpenDatabaseDeps, openDatabase } from './file/database.ts'
import { openLog } from './file/log.ts'
import { openReserve } from './file/reserve.ts'
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
import { safekeeping } from './safekeeping.ts'

export interface SqliteStoreDeps {
  dataDirectory: string
  onBroken: (reason: StoreBroken) => void
  clock: () => number
  onCommit?: CommitQueueDeps['onCommit'] | undefined
  onMigrated?: OpenDatabaseDeps['onMigrated']
}

/**
 * Opens the store in one SQLite file, which is created if missing. Throws `CannotStart` as `openStore`
 * says.
 */
export async function openSqliteStore(
  file: string,
  { dataDirectory, onBroken, clock, onCommit, onMigrated }: SqliteStoreDeps
): Promise<Store> {
  const { database, close } = await openDatabase(file, { dataDirectory, clock, migrations: readMigrations('sqlite/'), onMigrated })
  try {
    return storeIn(preparedLater(database), close, { file, dataDirectory, onBroken, clock, onCommit })
  } catch (error) {
    close()
    throw error
  }
}

/** The store in an open database, which prepares each statement now or later. */
export function storeIn(
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
    ...work(clock),
    safekeeping: safekeeping(deps),
    async close() {
      try {
        await queue.end()
      } finally {
        close()
      }
    }
  }
}
