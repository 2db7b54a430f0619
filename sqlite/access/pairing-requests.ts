import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
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
import type { Deps } from '../engine/deps.ts'
import { pendingLimit } from './pending-limit.ts'
import { insertToken } from './tokens.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'

interface KeptRequest extends PairingRequestRow {
  pollHash: string
  response: string | null
  answerHash: Buffer | null
  sealedToken: string | null
  tokenEndsAt: number | null
  device: DeviceId | null
}

/** Wipes the answers of ended requests, and removes them after a day, as part of the caller's transaction. */
export function sweepRequests(database: Database): (now: number) => void {
  const forget = database.prepare<[number]>('DELETE FROM pairing_request WHERE ends_at <= ?')
  const wipe = database.prepare<[number]>(
    'UPDATE pairing_request SET response = NULL, sealed_token = NULL WHERE ends_at <= ? AND response IS NOT NULL'
  )
  return now => {
    forget.run(now - pairingKeptMs)
    wipe.run(now)
  }
}

/** Pairing requests with a check code. */
export function pairingRequests({ database, queue }: Deps): PairingRequestStore & Pick<AccountStore, 'readAccountKey'> {
  const room = pendingLimit(database, {
    table: 'pairing_request',
    index: 'pairing_request_by_end',
    isWaiting: "state = 'waiting' AND ends_at > ?",
    from: 'asked_from',
    key: 'id'
  })
  const add = database.prepare<[PairingId, string, string, string, string, string, string, string | null, number]>(
    `INSERT INTO pairing_request (id, kind, name, public_key, device_key, poll_hash, asked_from, about, ends_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
  )
  const find = database.prepare<[PairingId], KeptRequest>(
    `SELECT pairing_request.kind, pairing_request.name, pairing_request.public_key AS publicKey, device_key AS deviceKey, asked_from AS "from", about, state, ends_at AS endsAt,
       poll_hash AS pollHash, account.id AS account, response, answer_hash AS answerHash, sealed_token AS sealedToken,
       token_ends_at AS tokenEndsAt, device.id AS device
     FROM pairing_request LEFT JOIN account ON account.key = pairing_request.account LEFT JOIN device ON device.key = pairing_request.device
     WHERE pairing_request.id = ?`
  )
  const approve = database.prepare<[AccountId, DeviceId | null, string, Buffer, PairingId]>(
    `UPDATE pairing_request SET state = 'approved', account = ${accountKey}, answered_by = (SELECT key FROM device WHERE id = ?),
       response = ?, answer_hash = ? WHERE id = ?`
  )
  const deliver = database.prepare<[string, number, DeviceId, PairingId]>(
    `UPDATE pairing_request SET state = 'delivered', answered_by = NULL, sealed_token = ?, token_ends_at = ?,
       device = (SELECT key FROM device WHERE id = ?) WHERE id = ?`
  )
  const reject = database.prepare<[PairingId]>("UPDATE pairing_request SET state = 'over' WHERE id = ?")
  const askAgain = database.prepare<[PairingId]>('UPDATE pairing_request SET asked_again = 1 WHERE id = ? AND asked_again = 0')
  const accountKeyOf = database.prepare<[AccountId], string>('SELECT public_key FROM account WHERE id = ?').pluck()
  const storeToken = insertToken(database)

  function insert(draft: PairingRequestDraft): 'added' | 'too-many' {
    const now = Math.floor(draft.now)
    const endsAt = Math.floor(draft.endsAt)
    const { id, kind, name, publicKey, deviceKey, pollHash, from, about = null, most } = draft
    if (most && !room.enter({ from, now, endsAt, most })) return 'too-many'
    add.run(id, kind, name, publicKey, deviceKey, pollHash, from, about, endsAt)
    return 'added'
  }

  function read(id: PairingId, now: number): KeptRequest | undefined {
    const row = find.get(id)
    if (!row || row.state === 'delivered' || now < row.endsAt) return row
    return { ...row, state: 'over' }
  }

  function poll({ id, pollHash, now, token }: Parameters<PairingRequestStore['pollPairingRequest']>[0]): RequestPolled | 'unknown' {
    const row = read(id, now)
    if (!row) return 'unknown'
    const { account } = row
    if (row.pollHash !== pollHash) {
      const isAlarm = account !== null && askAgain.run(id).changes > 0
      return { state: 'strange', alarm: isAlarm ? account : undefined }
    }
    if (row.state === 'waiting') return { state: 'waiting' }
    if (account === null || row.response === null || now >= row.endsAt) return { state: 'over' }
    if (row.state === 'delivered') return deliveredBefore(row, account, row.response)
    if (row.state !== 'approved') return { state: 'over' }
    const { draft, sealed } = token(account, row)
    const stored = storeToken(account, draft)
    if (!stored || draft.expiresAt === null) throw new Error('A pairing needs a device, and a token that expires.')
    const delivery: Delivery = {
      account,
      response: row.response,
      sealedToken: sealed,
      tokenEndsAt: Math.floor(draft.expiresAt),
      device: stored.id
    }
    deliver.run(delivery.sealedToken, delivery.tokenEndsAt, stored.id, id)
    return { state: 'delivered', ...delivery }
  }

  // A device removed meanwhile gets no token.
  function deliveredBefore({ sealedToken, tokenEndsAt, device }: KeptRequest, account: AccountId, response: string): RequestPolled {
    if (sealedToken === null || tokenEndsAt === null || device === null) return { state: 'over' }
    return { state: 'delivered', account, response, sealedToken, tokenEndsAt, device }
  }

  return {
    addPairingRequest: draft => queue.write(() => insert(draft), room),
    readPairingRequest: (id, now) =>
      queue.read(() => {
        const row = read(id, now)
        if (!row) return 'unknown'
        const { kind, name, publicKey, deviceKey, from, about, state, account, endsAt } = row
        return { kind, name, publicKey, deviceKey, from, about, state, account, endsAt }
      }),
    pollPairingRequest: ask => queue.write(() => poll(ask)),
    approvePairingRequest: ({ id, account, device, response, now }) =>
      queue.write(() => {
        const row = read(id, now)
        if (!row || row.state === 'over') return 'unknown'
        const hash = createHash('sha256').update(response).digest()
        if (row.state !== 'waiting') return row.account === account && row.answerHash?.equals(hash) ? 'approved' : 'answered-before'
        approve.run(account, device, response, hash, id)
        return 'approved'
      }),
    rejectPairingRequest: (id, now) =>
      queue.write(() => {
        const row = read(id, now)
        if (!row || row.state === 'over') return 'unknown'
        if (row.state !== 'waiting') return 'answered-before'
        reject.run(id)
        return 'rejected'
      }),
    readAccountKey: account => queue.read(() => accountKeyOf.get(account) ?? 'missing')
  }
}
