import type { AccountId, Sealed } from '../../lib/protocol/wire/ids.ts'
import { type AccessKeyRef, type AccessKeyRow, type AccessKeyStore, accessKeyConflict } from '../../lib/store/machines.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { withinState } from '../engine/quotas.ts'

/** The rows that an access key is of, and the key if there is one. */
interface Place {
  account: number
  session: number
  machine: number
  row: AccessKeyRow | undefined
}
type Found = Omit<Place, 'row'> & { [Name in keyof AccessKeyRow]: AccessKeyRow[Name] | null }

const find = `SELECT account.key AS account, session.key AS session, machine.key AS machine, data, data_version AS "dataVersion",
    access_key.created_at AS "createdAt", access_key.updated_at AS "updatedAt"
  FROM account JOIN session ON session.account = account.key AND session.id = $2
  JOIN machine ON machine.account = account.key AND machine.id = $3
  LEFT JOIN access_key ON access_key.account = account.key AND access_key.session = session.key AND access_key.machine = machine.key
  WHERE account.id = $1`

/** Sealed keys, one per session and machine. */
export function accessKeys({ write, read }: Deps): AccessKeyStore {
  return {
    findAccessKey: (account, of) =>
      read(async queries => {
        const place = await look(queries, account, of)
        return place ? (place.row ?? 'none') : 'missing'
      }),
    addAccessKey: (account, of, data, now, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, () => add(tx, account, of, data, now)), { bytes: data.length }),
    writeAccessKey: (account, of, expected, data, now, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, () => change(tx, account, of, expected, data, now)), { bytes: data.length })
  }
}

async function look(queries: Queries, account: AccountId, { session, machine }: AccessKeyRef): Promise<Place | undefined> {
  const found = await queries.get<Found>(find, [account, session, machine])
  if (!found) return undefined
  const { data, dataVersion, createdAt, updatedAt, ...place } = found
  const isThere = data !== null && dataVersion !== null && createdAt !== null && updatedAt !== null
  return { ...place, row: isThere ? { data, dataVersion, createdAt, updatedAt } : undefined }
}

async function add(tx: Tx, account: AccountId, of: AccessKeyRef, data: Sealed, now: number): Promise<AccessKeyRow | 'taken' | 'missing'> {
  const place = await look(tx, account, of)
  if (!place) return 'missing'
  if (place.row) return 'taken'
  await tx.run(
    'INSERT INTO access_key (account, session, machine, data, data_version, created_at, updated_at) VALUES ($1, $2, $3, $4, 1, $5, $5)',
    [place.account, place.session, place.machine, data, now]
  )
  return { data, dataVersion: 1, createdAt: now, updatedAt: now }
}

async function change(tx: Tx, account: AccountId, of: AccessKeyRef, expected: number, data: Sealed, now: number) {
  const place = await look(tx, account, of)
  if (!place) return 'missing' as const
  if (!place.row) return 'none' as const
  if (place.row.dataVersion !== expected) return accessKeyConflict(place.row)
  await tx.run(
    `UPDATE access_key SET data = $4, data_version = data_version + 1, updated_at = $5
     WHERE account = $1 AND session = $2 AND machine = $3`,
    [place.account, place.session, place.machine, data, now]
  )
  return { written: true as const, version: expected + 1 }
}
