import type { AccountId, KvKey } from '../../lib/protocol/wire/ids.ts'
import type { KvChange, KvRow, KvStore, KvWritten } from '../../lib/store/kv.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import { moveClock } from '../engine/clock.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { firstRows } from '../engine/list-size.ts'
import { hasRows, withinState } from '../engine/quotas.ts'

const inAccount = 'account = (SELECT key FROM account WHERE id = $1)'
const select = `SELECT name AS key, value, version FROM kv WHERE ${inAccount}`
const list = firstRows(`${select} AND name >= $2 AND starts_with(name, $2) AND value IS NOT NULL ORDER BY name LIMIT $3`, {
  columns: 'key, value, version',
  texts: ['key', 'value'],
  order: 'key'
})

/** Small values under keys the clients choose. */
export function kv({ write, read }: Deps): KvStore {
  return {
    readKv: (account, keys) =>
      read(async queries => {
        const rows = new Map((await findKv(queries, account, keys)).map(row => [row.key, row]))
        return keys.flatMap(key => rows.get(key) ?? []).filter(isPresent)
      }),
    listKv: (account, { prefix, limit }) => read(queries => queries.all<KvRow>(list, [account, prefix, limit])),
    mutateKv: (account, changes, now, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, () => mutate(tx, account, changes, now, quotas)), {
        bytes: changes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
      })
  }
}

async function mutate(tx: Tx, account: AccountId, changes: readonly KvChange[], now: number, quotas: Quotas): Promise<KvWritten> {
  const keys = changes.map(({ key }) => key)
  const stored = new Map((await findKv(tx, account, keys)).map(row => [row.key, row]))
  const current = keys.map(key => stored.get(key) ?? { key, value: null, version: -1 })
  const conflicts = current.filter(({ version }, index) => version !== changes[index]?.version)
  if (conflicts.length > 0) return { written: false, conflicts }
  await mayKeep(tx, account, changes, quotas)

  const written = changes.map(({ key, value, version }) => ({ key, value, version: version + 1 }))
  const clock = await moveClock(tx, account, 1)
  await tx.run(
    `INSERT INTO kv (account, name, value, version, updated_at, clock)
     SELECT account.key, written.name, written.value, written.version, $5, $6
     FROM account, unnest($2::text[], $3::text[], $4::bigint[]) AS written (name, value, version) WHERE account.id = $1
     ON CONFLICT (account, digest_of(name)) DO UPDATE
     SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at, clock = excluded.clock`,
    [account, keys, written.map(({ value }) => value), written.map(({ version }) => version), now, clock]
  )
  return { written: true, changes: written, clock }
}

async function mayKeep(tx: Tx, account: AccountId, changes: readonly KvChange[], quotas: Quotas): Promise<void> {
  if (changes.some(({ value }) => (value?.length ?? 0) > quotas.kvValueBytes)) throw new OverQuota('kvValueBytes')
  const added = changes.filter(({ version }) => version === -1).length
  if (added > 0 && (await hasRows(tx, 'kv', account, quotas.kvKeys - added + 1))) throw new OverQuota('kvKeys')
}

/** A removed key is found too, with a null value. */
export async function findKv(queries: Queries, account: AccountId, keys: readonly KvKey[]): Promise<KvChange[]> {
  return keys.length === 0
    ? []
    : queries.all<KvChange>(`${select} AND digest_of(name) IN (SELECT digest_of(asked) FROM unnest($2::text[]) AS asked)`, [account, keys])
}

function isPresent(row: KvChange): row is KvRow {
  return row.value !== null
}
