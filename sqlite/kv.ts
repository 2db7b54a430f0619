import type { AccountId, KvKey, Sealed } from '../lib/protocol/wire/ids.ts'
import type { KvChange, KvRow, KvStore, KvWritten } from '../lib/store/kv.ts'
import { accountClock } from './clock.ts'
import type { Deps } from './deps.ts'
import { endOfPrefix } from './text-order.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'

/** Small values under keys the clients choose. */
export function kv({ database, queue }: Deps): KvStore {
  const select = `SELECT name AS key, value, version FROM kv WHERE account = ${accountKey}`
  const find = database.prepare<[AccountId, KvKey], KvChange>(`${select} AND name = ?`)
  const list = database.prepare<[AccountId, string, string | Buffer, number], KvRow>(
    `${select} AND name >= ? AND name < ? AND value IS NOT NULL ORDER BY name LIMIT ?`
  )
  const write = database.prepare<[AccountId, KvKey, Sealed | null, number, number]>(
    `INSERT INTO kv (account, name, value, version, updated_at) VALUES (${accountKey}, ?, ?, ?, ?)
     ON CONFLICT (account, name) DO UPDATE SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at`
  )
  const clock = accountClock(database)

  function mutate(account: AccountId, changes: readonly KvChange[], now: number): KvWritten {
    const current = changes.map(({ key }) => find.get(account, key) ?? { key, value: null, version: -1 })
    const conflicts = current.filter(({ version }, index) => version !== changes[index]?.version)
    if (conflicts.length > 0) return { written: false, conflicts }

    const written = changes.map(({ key, value, version }) => ({ key, value, version: version + 1 }))
    for (const { key, value, version } of written) write.run(account, key, value, version, now)
    return { written: true, changes: written, clock: clock.move(account, 1) }
  }

  return {
    readKv: (account, keys) => queue.read(() => keys.flatMap(key => find.get(account, key) ?? []).filter(isPresent)),
    listKv: (account, { prefix, limit }) => queue.read(() => list.all(account, prefix, endOfPrefix(prefix), limit)),
    mutateKv: (account, changes, now) =>
      queue.write(() => mutate(account, changes, now), { bytes: changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0) })
  }
}

function isPresent(row: KvChange): row is KvRow {
  return row.value !== null
}
