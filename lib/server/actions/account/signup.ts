import { hash } from 'node:crypto'
import { type Failure, failure, tooMany } from '../../../protocol/wire/failures.ts'
import { fingerprintOf } from '../../../protocol/wire/fingerprint.ts'
import type { SignupCondition, SignupRow } from '../../../store/access/signup.ts'
import { subnetOf } from '../../address.ts'
import type { Asker, Deps } from '../../deps.ts'
import type { Limits } from '../../limits.ts'
import { mustBeOwner } from './owner.ts'

const mostWaiting = 20
const waitsForMs = 15 * 60_000

/** A key, and what else its client sends. */
export interface Newcomer {
  /** Upper-case hex of the Ed25519 public key. */
  publicKey: string
  setupCode: string | undefined
  /** The code of an invitation. */
  invite: string | undefined
  /** The client's description of itself. */
  client: string
  address: string
  /** The network of the address, for which an invitation may be open. */
  network: string
}

/** Who may create an account with a new key. */
export interface SignupPolicy {
  conditionFor(newcomer: Newcomer): Promise<SignupCondition>
  /** Why a new key was rejected. */
  refusal(newcomer: Newcomer, condition: SignupCondition): Promise<Failure>
  accountCreated(): void
}

/**
 * The sign-up decision for a sign-in, which every kind of sign-in passes to the store: a key with an
 * account needs none. Throws `too-many-requests` when too many new keys come from one address.
 */
export async function findSignupCondition(
  { store, time, limits, signup }: Pick<Deps, 'store' | 'time'> & { limits: Limits; signup: SignupPolicy },
  newcomer: Newcomer
): Promise<SignupCondition> {
  const standing = await store.readStanding(newcomer.publicKey, time())
  if (standing === 'member') return 'never'
  // A waiting person may ask again, and the first person may mistype the setup code: both have their own
  // limits.
  if (standing === 'unknown' && (await store.hasAccounts())) limits.take('newKey', subnetOf(newcomer.address))
  return signup.conditionFor(newcomer)
}

/** What most policies do with a rejected key; one that waits for the owner is added to the waiting list. */
export function refusals({ store, time }: Pick<Deps, 'store' | 'time'>): SignupPolicy['refusal'] {
  return async ({ publicKey, client, address }, condition) => {
    if (typeof condition === 'object') return failure('invite-required')
    if (condition !== 'if-approved') return failure('signup-closed')
    const askedAt = time()
    const asked = await store.askSignup({
      publicKey,
      fingerprint: fingerprintOfKey(publicKey),
      client,
      address,
      askedAt,
      endsAt: askedAt + waitsForMs,
      most: mostWaiting
    })
    switch (asked) {
      case 'waiting':
      case 'approved':
        return failure('signup-pending')
      case 'rejected':
        return failure('signup-closed')
      case 'full':
        return tooMany(60)
    }
  }
}

export function fingerprintOfKey(publicKey: string): string {
  return fingerprintOf(hash('sha256', Buffer.from(publicKey, 'hex'), 'buffer'))
}

/** People waiting for the owner, most recent first. */
export async function listSignups(deps: Pick<Deps, 'store' | 'time'>, by: Asker): Promise<Omit<SignupRow, 'publicKey'>[]> {
  await mustBeOwner(deps, by)
  const rows = await deps.store.listSignups(deps.time())
  return rows.map(({ publicKey: _, ...row }) => row)
}

/** The owner's decision is valid as long as the wait was. */
export async function decideSignup(
  deps: Pick<Deps, 'store' | 'time'>,
  by: Asker,
  fingerprint: string,
  state: 'approved' | 'rejected'
): Promise<void> {
  await mustBeOwner(deps, by)
  const { store, time } = deps
  const at = time()
  const outcome = await store.decideSignup(fingerprint, { state, now: at, endsAt: at + waitsForMs })
  if (outcome === 'missing') throw failure('signup-not-found')
}
