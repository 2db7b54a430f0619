import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { mostRemovalsKept } from '../../lib/store/changes.ts'
import type { RemovableRef } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import { moveClock } from '../engine/clock.ts'
import type { Deps, Tx } from '../engine/deps.ts'
import { leave, ofNoneRemoved } from '../engine/leftovers.ts'

interface Place {
  account: number
  key: number
}
interface OldSession {
  account: AccountId
  session: SessionId
}

const accountKey = '(SELECT key FROM account WHERE id = $1)'

export function removal({ write }: Deps): Pick<Store, 'remove' | 'removeOldSessions'> {
  return {
    remove: (account, row) => write(account, tx => remove(tx, account, row), { isLong: true }),
    removeOldSessions: (before, limit) => write('shared', tx => removeOldSessions(tx, before, limit), { isLong: true })
  }
}

async function remove(tx: Tx, account: AccountId, row: RemovableRef): Promise<{ clock: number } | 'missing'> {
  if (!(await removeRow(tx, account, row))) return 'missing'
  const clock = await moveClock(tx, account, 1)
  await remember(tx, account, row, clock)
  return { clock }
}

async function removeRow(tx: Tx, account: AccountId, { of, id }: RemovableRef): Promise<boolean> {
  if (of === 'artifact') return removeArtifact(tx, account, id)
  const place = await tx.get<Place>(`SELECT account, key FROM ${of} WHERE account = ${accountKey} AND id = $2`, [account, id])
  if (!place) return false
  if (of === 'session') {
    tx.send(
      `UPDATE account SET messages = messages - (last_seq - gaps), bytes = account.bytes - session.bytes
       FROM session WHERE session.key = $1 AND account.key = session.account`,
      [place.key]
    )
  }
  await leave(tx, { kind: of, id, ...place })
  if (of === 'session') tx.send('DELETE FROM session_cells WHERE session = $1', [place.key])
  tx.send(`DELETE FROM ${of} WHERE key = $1`, [place.key])
  return true
}

async function removeArtifact(tx: Tx, account: AccountId, id: string): Promise<boolean> {
  const removed = await tx.get<{ bytes: number }>(`DELETE FROM artifact WHERE account = ${accountKey} AND id = $2 RETURNING bytes`, [
    account,
    id
  ])
  if (!removed) return false
  tx.send('UPDATE account SET artifact_bytes = artifact_bytes - $1 WHERE id = $2', [removed.bytes, account])
  return true
}

const isOld = 'NOT active AND updated_at < $1 AND active_at < $1'

// An hourly scan of the narrow rows of all sessions: an index on what each message moves would cost more. They are looked
// at again once their accounts are locked, since somebody may have come back to one.
async function removeOldSessions(tx: Tx, before: number, limit: number): Promise<(OldSession & { clock: number })[]> {
  const seen = await tx.all<{ account: number; key: number }>(
    `SELECT account, key FROM session WHERE ${isOld} AND ${ofNoneRemoved} LIMIT $2`,
    [before, limit]
  )
  await tx.run('SELECT FROM account WHERE key = ANY($1) ORDER BY key FOR NO KEY UPDATE', [seen.map(({ account }) => account)])
  const old = await tx.all<OldSession>(
    `SELECT account.id AS account, session.id AS session FROM session JOIN account ON account.key = session.account
     WHERE ${isOld} AND session.key = ANY($2) ORDER BY session.key`,
    [before, seen.map(({ key }) => key)]
  )
  const removed: (OldSession & { clock: number })[] = []
  for (const { account, session } of old) {
    const outcome = await remove(tx, account, { of: 'session', id: session })
    if (outcome !== 'missing') removed.push({ account, session, clock: outcome.clock })
  }
  return removed
}

/** Adds a tombstone, and removes the oldest if there are too many. */
async function remember(tx: Tx, account: AccountId, { of, id }: RemovableRef, clock: number): Promise<void> {
  tx.send(`INSERT INTO removed (account, clock, kind, id) VALUES (${accountKey}, $2, $3, $4)`, [account, clock, of, id])
  const last = await tx.get<{ clock: number }>(
    `SELECT clock FROM removed WHERE account = ${accountKey} ORDER BY clock DESC LIMIT 1 OFFSET $2`,
    [account, mostRemovalsKept]
  )
  if (!last) return
  tx.send(`DELETE FROM removed WHERE account = ${accountKey} AND clock <= $2`, [account, last.clock])
  tx.send('UPDATE account SET forgotten_clock = $2 WHERE id = $1', [account, last.clock])
}
