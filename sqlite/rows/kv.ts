import type { Database } from 'better-sqlite3'
import type { AccountId, KvKey, Sealed } from '../../lib/protocol/wire/ids.ts'
import type { KvChange, KvRow, KvStore, KvWritten } from '../../lib/store/kv.ts'
import { within } from '../../lib/store/list-size.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'
import { rowQuota, stateQuota } from '../engine/quotas.ts'
import { endOfPrefix } from '../engine/text-order.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const select = `SELECT name AS key, value, version FROM kv WHERE account = ${accountKey}`

/** Small values under keys the clients choose. */
export function kv({ database, queue }: Deps): KvStore {
  const find = findKv(database)
  const list = database.prepare<[AccountId, string, string | Buffer, number], KvRow>(
    `${select} AND name >= ? AND name < ? AND value IS NOT NULL ORDER BY name LIMIT ?`
  )
  const write = database.prepare<[AccountId, KvKey, Sealed | null, number, number, number]>(
    `INSERT INTO kv (account, name, value, version, updated_at, clock) VALUES (${accountKey}, ?, ?, ?, ?, ?)
     ON CONFLICT (account, name) DO UPDATE
     SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at, clock = excluded.clock`
  )
  const clock = accountClock(database)
  const hasRows = rowQuota(database, 'kv')
  const withinState = stateQuota(database)

  function mayKeep(account: AccountId, changes: readonly KvChange[], quotas: Quotas): void {
    if (changes.some(({ value }) => (value?.length ?? 0) > quotas.kvValueBytes)) throw new OverQuota('kvValueBytes')
    const added = changes.filter(({ version }) => version === -1).length
    if (added > 0 && hasRows(account, quotas.kvKeys - added + 1)) throw new OverQuota('kvKeys')
  }

  function mutate(account: AccountId, changes: readonly KvChange[], now: number, quotas: Quotas): KvWritten {
    const current = changes.map(({ key }) => find(account, key) ?? { key, value: null, version: -1 })
    const conflicts = current.filter(({ version }, index) => version !== changes[index]?.version)
    if (conflicts.length > 0) return { written: false, conflicts }
    mayKeep(account, changes, quotas)

    const written = changes.map(({ key, value, version }) => ({ key, value, version: version + 1 }))
    const moved = clock.move(account, 1)
    for (const { key, value, version } of written) write.run(account, key, value, version, now, moved)
    return { written: true, changes: written, clock: moved }
  }

  return {
    readKv: (account, keys) => queue.read(() => keys.flatMap(key => find(account, key) ?? []).filter(isPresent)),
    listKv: (account, { prefix, limit }) => queue.read(() => within(list.iterate(account, prefix, endOfPrefix(prefix), limit))),
    mutateKv: (account, changes, now, quotas = noQuotas) =>
      queue.write(() => withinState(account, quotas, () => mutate(account, changes, now, quotas)), {
        bytes: changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
      })
  }
}

/** A removed key is found too, with a null value. */
export function findKv(database: Database): (account: AccountId, key: KvKey) => KvChange | undefined {
  const find = database.prepare<[AccountId, KvKey], KvChange>(`${select} AND name = ?`)
  return (account, key) => find.get(account, key)
}

function isPresent(row: KvChange): row is KvRow {
  return row.value !== null
}
