import type { AccountId, MachineId, Sealed, SessionId } from '../../lib/protocol/wire/ids.ts'
import { type AccessKeyRef, type AccessKeyRow, type AccessKeyStore, accessKeyConflict } from '../../lib/store/machines.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Deps } from '../engine/deps.ts'
import { stateQuota } from '../engine/quotas.ts'

interface Place {
  session: number
  machine: number
}

const accountKey = '(SELECT key FROM account WHERE id = ?)'

/** Sealed keys, one per session and machine. */
export function accessKeys({ database, queue }: Deps): AccessKeyStore {
  const findPlace = database.prepare<[AccountId, SessionId, AccountId, MachineId], Place>(
    `SELECT session.key AS session, machine.key AS machine FROM session, machine
     WHERE session.account = ${accountKey} AND session.id = ? AND machine.account = ${accountKey} AND machine.id = ?`
  )
  const find = database.prepare<[AccountId, number, number], AccessKeyRow>(
    `SELECT data, data_version AS dataVersion, created_at AS createdAt, updated_at AS updatedAt FROM access_key
     WHERE account = ${accountKey} AND session = ? AND machine = ?`
  )
  const add = database.prepare<[AccountId, number, number, Sealed, number, number]>(
    `INSERT INTO access_key (account, session, machine, data, data_version, created_at, updated_at) VALUES (${accountKey}, ?, ?, ?, 1, ?, ?)`
  )
  const write = database.prepare<[Sealed, number, AccountId, number, number]>(
    `UPDATE access_key SET data = ?, data_version = data_version + 1, updated_at = ? WHERE account = ${accountKey} AND session = ? AND machine = ?`
  )

  const within = stateQuota(database)

  function look(account: AccountId, of: AccessKeyRef): { place: Place; row: AccessKeyRow | undefined } | undefined {
    const place = findPlace.get(account, of.session, account, of.machine)
    return place && { place, row: find.get(account, place.session, place.machine) }
  }

  function addAt(account: AccountId, of: AccessKeyRef, data: Sealed, now: number): AccessKeyRow | 'taken' | 'missing' {
    const seen = look(account, of)
    if (!seen) return 'missing'
    if (seen.row) return 'taken'
    add.run(account, seen.place.session, seen.place.machine, data, now, now)
    return { data, dataVersion: 1, createdAt: now, updatedAt: now }
  }

  function writeAt(account: AccountId, of: AccessKeyRef, expected: number, data: Sealed, now: number) {
    const seen = look(account, of)
    if (!seen) return 'missing' as const
    const { place, row } = seen
    if (!row) return 'none' as const
    if (row.dataVersion !== expected) return accessKeyConflict(row)
    write.run(data, now, account, place.session, place.machine)
    return { written: true as const, version: expected + 1 }
  }

  return {
    findAccessKey: (account, of) =>
      queue.read(() => {
        const seen = look(account, of)
        return seen ? (seen.row ?? 'none') : 'missing'
      }),
    addAccessKey: (account, of, data, now, quotas = noQuotas) =>
      queue.write(() => within(account, quotas, () => addAt(account, of, data, now)), { bytes: data.length }),
    writeAccessKey: (account, of, expected, data, now, quotas = noQuotas) =>
      queue.write(() => within(account, quotas, () => writeAt(account, of, expected, data, now)), { bytes: data.length })
  }
}
