import { createHash } from 'node:crypto'
import type { AccountId, DeviceId } from '../../lib/protocol/wire/ids.ts'
import {
  type PairingAnswer,
  type PairingKind,
  type PairingPoll,
  type PairingPolled,
  type PairingStatus,
  pairingKeptMs
} from '../../lib/store/access/pairings.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'
import { sweepRequests as requestSweep } from './pairing-requests.ts'
import { pendingLimit } from './pending-limit.ts'
import { insertToken } from './tokens.ts'

interface PairingRow {
  supportsV2: number
  askedFrom: string
  account: AccountId | null
  response: string | null
  answerHash: Buffer | null
  delivered: number
  endsAt: number
}
type PairingState = { is: 'waiting' } | { is: 'answered'; account: AccountId; response: string } | { is: 'delivered' } | { is: 'expired' }

/** Pairing requests of new devices and terminals. */
export function pairings({
  database,
  queue
}: Deps): Pick<Store, 'pollPairing' | 'readPairing' | 'answerPairing' | 'movePairings' | 'sweepPairings'> {
  const find = database.prepare<[PairingKind, string], PairingRow>(
    `SELECT supports_v2 AS supportsV2, asked_from AS askedFrom, account.id AS account, response, answer_hash AS answerHash, delivered, ends_at AS endsAt
     FROM pairing LEFT JOIN account ON account.key = pairing.account WHERE kind = ? AND pairing.public_key = ?`
  )
  const create = database.prepare<[PairingKind, string, number, string, number]>(
    'INSERT INTO pairing (kind, public_key, supports_v2, asked_from, ends_at) VALUES (?, ?, ?, ?, ?)'
  )
  const room = pendingLimit(database, {
    table: 'pairing',
    index: 'pairing_waiting',
    isWaiting: 'account IS NULL AND delivered = 0 AND ends_at > ?',
    from: 'asked_from',
    key: 'kind, public_key'
  })
  const answer = database.prepare<[AccountId, DeviceId | null, string, Buffer, PairingKind, string]>(
    `UPDATE pairing SET account = (SELECT key FROM account WHERE id = ?), answered_by = (SELECT key FROM device WHERE id = ?),
       response = ?, answer_hash = ?
     WHERE kind = ? AND public_key = ? AND account IS NULL`
  )
  const deliver = database.prepare<[number, PairingKind, string]>(
    'UPDATE pairing SET delivered = 1, response = NULL, answered_by = NULL, ends_at = ? WHERE kind = ? AND public_key = ?'
  )
  const askAgain = database.prepare<[PairingKind, string]>(
    'UPDATE pairing SET asked_again = 1 WHERE kind = ? AND public_key = ? AND asked_again = 0'
  )
  const wipeExpired = database.prepare<[number]>('UPDATE pairing SET response = NULL WHERE response IS NOT NULL AND ends_at <= ?')
  const forget = database.prepare<[number]>('DELETE FROM pairing WHERE ends_at <= ?')
  const moving = (table: 'pairing' | 'pairing_request', which: string) =>
    database.prepare<[number, number, number]>(`UPDATE ${table} SET ends_at = ends_at + ? WHERE ends_at > ? AND ends_at <= ? AND ${which}`)
  // A delivered one ends at its delivery.
  const moves = [moving('pairing', 'delivered = 0'), moving('pairing_request', '1')]
  const storeToken = insertToken(database)
  const sweepRequests = requestSweep(database)

  function poll(ask: PairingPoll): PairingPolled {
    const row = find.get(ask.kind, ask.publicKey)
    if (!row) {
      const endsAt = Math.floor(ask.expiresAt)
      if (ask.most && !room.enter({ from: ask.from, now: ask.now, endsAt, most: ask.most })) return { state: 'full' }
      create.run(ask.kind, ask.publicKey, ask.supportsV2 ? 1 : 0, ask.from, endsAt)
      return { state: 'waiting' }
    }
    const state = stateOf(row, ask.now)
    switch (state.is) {
      case 'expired':
        return { state: 'over', again: undefined }
      case 'delivered':
        return { state: 'over', again: askAgain.run(ask.kind, ask.publicKey).changes > 0 ? (row.account ?? undefined) : undefined }
      case 'waiting':
        return { state: 'waiting' }
      case 'answered':
        // Someone who saw the code on a screen elsewhere learns nothing, not even that there is an answer.
        if (ask.from !== row.askedFrom) return { state: 'waiting' }
        deliver.run(Math.floor(ask.now), ask.kind, ask.publicKey)
        return {
          state: 'delivered',
          account: state.account,
          response: state.response,
          device: storeToken(state.account, ask.token(state.account))?.id
        }
    }
  }

  function status(kind: PairingKind, publicKey: string, now: number): PairingStatus {
    const row = find.get(kind, publicKey)
    if (!row) return { status: 'unknown', supportsV2: false }
    const state = stateOf(row, now)
    switch (state.is) {
      case 'waiting':
        return { status: 'waiting', supportsV2: row.supportsV2 === 1 }
      case 'answered':
      case 'delivered':
        return { status: 'answered', supportsV2: false }
      case 'expired':
        return { status: 'over', supportsV2: false }
    }
  }

  function accept({ kind, publicKey, response, account, device = null, now }: PairingAnswer): 'answered' | 'answered-before' | 'unknown' {
    const row = find.get(kind, publicKey)
    if (!row) return 'unknown'

    const state = stateOf(row, now)
    if (state.is === 'expired') return 'unknown'

    const hash = createHash('sha256').update(response).digest()
    if (state.is !== 'waiting') return row.account === account && row.answerHash?.equals(hash) ? 'answered' : 'answered-before'
    answer.run(account, device, response, hash, kind, publicKey)
    return 'answered'
  }

  return {
    pollPairing: ask => queue.write(() => poll(ask), room),
    readPairing: (kind, publicKey, now) => queue.read(() => status(kind, publicKey, now)),
    answerPairing: given => queue.write(() => accept(given)),
    movePairings: ({ from, byMs, mostMs }) =>
      queue.write(() => {
        for (const move of moves) move.run(Math.round(byMs), Math.floor(from), Math.ceil(from + mostMs))
      }),
    sweepPairings: now =>
      queue.write(() => {
        wipeExpired.run(now)
        forget.run(now - pairingKeptMs)
        sweepRequests(now)
      })
  }
}

// `endsAt` is when a request expires until it is delivered, and then the time of delivery.
function stateOf({ account, response, delivered, endsAt }: PairingRow, now: number): PairingState {
  if (delivered === 1) return { is: 'delivered' }
  if (now >= endsAt) return { is: 'expired' }
  return account !== null && response !== null ? { is: 'answered', account, response } : { is: 'waiting' }
}
