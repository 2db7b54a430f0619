import { createHash } from 'node:crypto'
import type { AccountId, DeviceId, PairingId } from '../../lib/protocol/wire/ids.ts'
import type { AccountStore } from '../../lib/store/access/accounts.ts'
import {
  type Delivery,
  type PairingRequestDraft,
  type PairingRequestRow,
  type PairingRequestStore,
  pairingKeptMs,
  type RequestPolled
} from '../../lib/store/access/pairings.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { holdLock } from './named-lock.ts'
import { pendingLimit } from './pending-limit.ts'
import { storeToken } from './tokens.ts'

interface KeptRequest extends PairingRequestRow {
  pollHash: string
  response: string | null
  answerHash: Buffer | null
  sealedToken: string | null
  tokenEndsAt: number | null
  device: DeviceId | null
}

type Poll = Parameters<PairingRequestStore['pollPairingRequest']>[0]
type Approval = Parameters<PairingRequestStore['approvePairingRequest']>[0]

const room = pendingLimit({
  table: 'pairing_request',
  isWaiting: "state = 'waiting' AND ends_at > $1",
  from: 'asked_from',
  key: 'id'
})

/** Wipes the answers of ended requests, and removes them after a day, as part of the caller's transaction. */
export async function sweepRequests(tx: Queries, now: number): Promise<void> {
  await tx.run('DELETE FROM pairing_request WHERE ends_at <= $1', [now - pairingKeptMs])
  await tx.run('UPDATE pairing_request SET response = NULL, sealed_token = NULL WHERE ends_at <= $1 AND response IS NOT NULL', [now])
}

/** Pairing requests with a check code. */
export function pairingRequests({ write, read }: Deps): PairingRequestStore & Pick<AccountStore, 'readAccountKey'> {
  // All begin in the shared lane, in order of arrival. An approval is delivered under the lock of its account, so that
  // only one poll creates the token.
  async function poll(ask: Poll): Promise<RequestPolled | 'unknown'> {
    for (;;) {
      const polled = await write('shared', tx => pollOf(tx, ask))
      if (polled === 'unknown' || polled.state !== 'approved') return polled
      const outcome = await write(polled.account, tx => deliver(tx, ask, polled.account))
      if (outcome !== 'changed') return outcome
    }
  }

  return {
    addPairingRequest: draft => write('shared', tx => insert(tx, draft)),
    readPairingRequest: (id, now) =>
      read(async queries => {
        const row = await find(queries, id, now)
        if (!row) return 'unknown'
        const { kind, name, publicKey, deviceKey, from, about, state, account, endsAt } = row
        return { kind, name, publicKey, deviceKey, from, about, state, account, endsAt }
      }),
    pollPairingRequest: poll,
    approvePairingRequest: ask => write(ask.account, tx => approve(tx, ask)),
    rejectPairingRequest: (id, now) => write('shared', tx => reject(tx, id, now)),
    readAccountKey: account =>
      read(async queries => {
        const row = await queries.get<{ key: string }>('SELECT public_key AS key FROM account WHERE id = $1', [account])
        return row?.key ?? 'missing'
      })
  }
}

async function insert(tx: Queries, draft: PairingRequestDraft): Promise<'added' | 'too-many'> {
  const { id, kind, name, publicKey, deviceKey, pollHash, from, about = null, most } = draft
  const [now, endsAt] = [Math.floor(draft.now), Math.floor(draft.endsAt)]
  if (most) {
    // Others that ask are counted first.
    await holdLock(tx, 'pairing requests')
    if (!(await room.enter(tx, { from, now, endsAt, most }))) return 'too-many'
  }
  await tx.run(
    `INSERT INTO pairing_request (id, kind, name, public_key, device_key, poll_hash, asked_from, about, ends_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, kind, name, publicKey, deviceKey, pollHash, from, about, endsAt]
  )
  return 'added'
}

async function pollOf(
  tx: Queries,
  { id, pollHash, now }: Poll
): Promise<RequestPolled | { state: 'approved'; account: AccountId } | 'unknown'> {
  const row = await find(tx, id, now)
  if (!row) return 'unknown'
  const { account } = row
  if (row.pollHash !== pollHash) {
    const isAlarm =
      account !== null && (await tx.run('UPDATE pairing_request SET asked_again = true WHERE id = $1 AND NOT asked_again', [id])) > 0
    return { state: 'strange', alarm: isAlarm ? account : undefined }
  }
  if (row.state === 'waiting') return { state: 'waiting' }
  if (account === null || row.response === null || now >= row.endsAt) return { state: 'over' }
  if (row.state === 'delivered') return deliveredBefore(row, account, row.response)
  return row.state === 'approved' ? { state: 'approved', account } : { state: 'over' }
}

// A device removed meanwhile gets no token.
function deliveredBefore({ sealedToken, tokenEndsAt, device }: KeptRequest, account: AccountId, response: string): RequestPolled {
  if (sealedToken === null || tokenEndsAt === null || device === null) return { state: 'over' }
  return { state: 'delivered', account, response, sealedToken, tokenEndsAt, device }
}

async function deliver(tx: Queries, { id, now, token }: Poll, account: AccountId): Promise<RequestPolled | 'changed'> {
  const row = await find(tx, id, now)
  if (row?.state !== 'approved' || row.account !== account || row.response === null) return 'changed'
  const { draft, sealed } = token(account, row)
  const stored = await storeToken(tx, account, draft)
  if (!stored || draft.expiresAt === null) throw new Error('A pairing needs a device, and a token that expires.')
  const delivery: Delivery = {
    account,
    response: row.response,
    sealedToken: sealed,
    tokenEndsAt: Math.floor(draft.expiresAt),
    device: stored.id
  }
  await tx.run(
    `UPDATE pairing_request SET state = 'delivered', answered_by = NULL, sealed_token = $2, token_ends_at = $3,
       device = (SELECT key FROM device WHERE id = $4) WHERE id = $1`,
    [id, delivery.sealedToken, delivery.tokenEndsAt, stored.id]
  )
  return { state: 'delivered', ...delivery }
}

async function approve(tx: Queries, { id, account, device, response, now }: Approval) {
  const hash = createHash('sha256').update(response).digest()
  const approved = await tx.run(
    `UPDATE pairing_request SET state = 'approved', account = (SELECT key FROM account WHERE id = $2),
       answered_by = (SELECT key FROM device WHERE id = $3), response = $4, answer_hash = $5
     WHERE id = $1 AND state = 'waiting' AND ends_at > $6`,
    [id, account, device, response, hash, Math.floor(now)]
  )
  if (approved > 0) return 'approved' as const
  const row = await find(tx, id, now)
  // One that waits was created after its approval.
  if (!row || row.state === 'over' || row.state === 'waiting') return 'unknown' as const
  return row.account === account && row.answerHash?.equals(hash) ? ('approved' as const) : ('answered-before' as const)
}

async function reject(tx: Queries, id: PairingId, now: number) {
  const rejected = await tx.run("UPDATE pairing_request SET state = 'over' WHERE id = $1 AND state = 'waiting' AND ends_at > $2", [
    id,
    Math.floor(now)
  ])
  if (rejected > 0) return 'rejected' as const
  const row = await find(tx, id, now)
  return !row || row.state === 'over' || row.state === 'waiting' ? ('unknown' as const) : ('answered-before' as const)
}

async function find(queries: Queries, id: PairingId, now: number): Promise<KeptRequest | undefined> {
  const row = await queries.get<KeptRequest>(
    `SELECT pairing_request.kind, pairing_request.name, pairing_request.public_key AS "publicKey", device_key AS "deviceKey", asked_from AS "from", about, state, ends_at AS "endsAt",
       poll_hash AS "pollHash", account.id AS account, response, answer_hash AS "answerHash", sealed_token AS "sealedToken",
       token_ends_at AS "tokenEndsAt", device.id AS device
     FROM pairing_request LEFT JOIN account ON account.key = pairing_request.account LEFT JOIN device ON device.key = pairing_request.device
     WHERE pairing_request.id = $1`,
    [id]
  )
  if (!row || row.state === 'delivered' || now < row.endsAt) return row
  return { ...row, state: 'over' }
}
