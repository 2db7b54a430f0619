import { createHash } from 'node:crypto'
import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import {
  type PairingAnswer,
  type PairingKind,
  type PairingPoll,
  type PairingPolled,
  type PairingStatus,
  pairingKeptMs
} from '../../lib/store/access/pairings.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { holdLock } from './named-lock.ts'
import { sweepRequests } from './pairing-requests.ts'
import { pendingLimit } from './pending-limit.ts'
import { storeToken } from './tokens.ts'

interface PairingRow {
  supportsV2: boolean
  askedFrom: string
  account: AccountId | null
  response: string | null
  answerHash: Buffer | null
  delivered: boolean
  endsAt: number
}
type PairingState = { is: 'waiting' } | { is: 'answered'; account: AccountId; response: string } | { is: 'delivered' } | { is: 'expired' }

const room = pendingLimit({
  table: 'pairing',
  isWaiting: 'account IS NULL AND NOT delivered AND ends_at > $1',
  from: 'asked_from',
  key: 'kind, public_key'
})

/** Pairing requests of new devices and terminals. */
export function pairings({
  write,
  read
}: Deps): Pick<Store, 'pollPairing' | 'readPairing' | 'answerPairing' | 'movePairings' | 'sweepPairings'> {
  // All begin in the shared lane, in order of arrival. An answer is delivered under the lock of its account, so that only
  // one poll gets it.
  async function poll(ask: PairingPoll): Promise<PairingPolled> {
    for (;;) {
      const polled = await write('shared', tx => pollOf(tx, ask))
      if (polled.state !== 'answered') return polled
      const outcome = await write(polled.account, tx => deliver(tx, ask, polled.account))
      if (outcome !== 'changed') return outcome
    }
  }

  return {
    pollPairing: poll,
    readPairing: (kind, publicKey, now) => read(async queries => statusOf(await find(queries, kind, publicKey), now)),
    answerPairing: given => write(given.account, tx => answer(tx, given)),
    movePairings: ({ from, byMs, mostMs }) =>
      write('shared', async tx => {
        const step = [Math.round(byMs), Math.floor(from), Math.ceil(from + mostMs)]
        // A delivered one ends at its delivery.
        await tx.run('UPDATE pairing SET ends_at = ends_at + $1 WHERE ends_at > $2 AND ends_at <= $3 AND NOT delivered', step)
        await tx.run('UPDATE pairing_request SET ends_at = ends_at + $1 WHERE ends_at > $2 AND ends_at <= $3', step)
      }),
    sweepPairings: now =>
      write('shared', async tx => {
        const at = Math.floor(now)
        await tx.run('UPDATE pairing SET response = NULL WHERE response IS NOT NULL AND ends_at <= $1', [at])
        await tx.run('DELETE FROM pairing WHERE ends_at <= $1', [at - pairingKeptMs])
        await sweepRequests(tx, at)
      })
  }
}

async function pollOf(tx: Queries, ask: PairingPoll): Promise<PairingPolled | { state: 'answered'; account: AccountId }> {
  const { kind, publicKey, now } = ask
  const known = await find(tx, kind, publicKey)
  if (!known) return (await create(tx, ask)) ?? pollOf(tx, ask)
  const state = stateOf(known, now)
  switch (state.is) {
    case 'expired':
      return { state: 'over', again: undefined }
    case 'delivered': {
      const isFirst =
        (await tx.run('UPDATE pairing SET asked_again = true WHERE kind = $1 AND public_key = $2 AND NOT asked_again', [kind, publicKey])) >
        0
      return { state: 'over', again: isFirst ? (known.account ?? undefined) : undefined }
    }
    case 'waiting':
      return { state: 'waiting' }
    case 'answered':
      // Someone who saw the code on a screen elsewhere learns nothing, not even that there is an answer.
      return ask.from === known.askedFrom ? { state: 'answered', account: state.account } : { state: 'waiting' }
  }
}

/** Undefined if another instance did it meanwhile. */
async function create(
  tx: Queries,
  { kind, publicKey, supportsV2, from, expiresAt, now, most }: PairingPoll
): Promise<PairingPolled | undefined> {
  await holdLock(tx, 'pairings')
  if (await find(tx, kind, publicKey)) return undefined
  const endsAt = Math.floor(expiresAt)
  if (most && !(await room.enter(tx, { from, now: Math.floor(now), endsAt, most }))) return { state: 'full' }
  await tx.run('INSERT INTO pairing (kind, public_key, supports_v2, asked_from, ends_at) VALUES ($1, $2, $3, $4, $5)', [
    kind,
    publicKey,
    supportsV2,
    from,
    endsAt
  ])
  return { state: 'waiting' }
}

async function deliver(tx: Queries, { kind, publicKey, now, token }: PairingPoll, account: AccountId): Promise<PairingPolled | 'changed'> {
  const answered = await tx.get<{ response: string }>(
    `SELECT response FROM pairing WHERE kind = $1 AND public_key = $2 AND NOT delivered AND response IS NOT NULL AND ends_at > $3
       AND account = (SELECT key FROM account WHERE id = $4)`,
    [kind, publicKey, Math.floor(now), account]
  )
  if (!answered) return 'changed'
  await tx.run(
    'UPDATE pairing SET delivered = true, response = NULL, answered_by = NULL, ends_at = $3 WHERE kind = $1 AND public_key = $2',
    [kind, publicKey, Math.floor(now)]
  )
  const device = await storeToken(tx, account, token(account))
  return { state: 'delivered', account, response: answered.response, device: device?.id }
}

async function answer(tx: Queries, { kind, publicKey, response, account, device = null, now }: PairingAnswer) {
  const hash = createHash('sha256').update(response).digest()
  const answered = await tx.run(
    `UPDATE pairing SET account = (SELECT key FROM account WHERE id = $3), answered_by = (SELECT key FROM device WHERE id = $4),
       response = $5, answer_hash = $6
     WHERE kind = $1 AND public_key = $2 AND account IS NULL AND NOT delivered AND ends_at > $7`,
    [kind, publicKey, account, device, response, hash, Math.floor(now)]
  )
  if (answered > 0) return 'answered' as const
  const row = await find(tx, kind, publicKey)
  // One that waits was created after the answer to it.
  if (!row || ['expired', 'waiting'].includes(stateOf(row, now).is)) return 'unknown' as const
  return row.account === account && row.answerHash?.equals(hash) ? ('answered' as const) : ('answered-before' as const)
}

function find(queries: Queries, kind: PairingKind, publicKey: string): Promise<PairingRow | undefined> {
  return queries.get(
    `SELECT supports_v2 AS "supportsV2", asked_from AS "askedFrom", account.id AS account, response, answer_hash AS "answerHash", delivered, ends_at AS "endsAt"
     FROM pairing LEFT JOIN account ON account.key = pairing.account WHERE kind = $1 AND pairing.public_key = $2`,
    [kind, publicKey]
  )
}

function statusOf(row: PairingRow | undefined, now: number): PairingStatus {
  if (!row) return { status: 'unknown', supportsV2: false }
  switch (stateOf(row, now).is) {
    case 'waiting':
      return { status: 'waiting', supportsV2: row.supportsV2 }
    case 'answered':
    case 'delivered':
      return { status: 'answered', supportsV2: false }
    case 'expired':
      return { status: 'over', supportsV2: false }
  }
}

// `endsAt` is when a request expires until it is delivered, and then the time of delivery.
function stateOf({ account, response, delivered, endsAt }: PairingRow, now: number): PairingState {
  if (delivered) return { is: 'delivered' }
  if (now >= endsAt) return { is: 'expired' }
  return account !== null && response !== null ? { is: 'answered', account, response } : { is: 'waiting' }
}
