import { hash, randomBytes } from 'node:crypto'
import { failure } from '../../../protocol/wire/failures.ts'
import type { InviteId } from '../../../protocol/wire/ids.ts'
import type { InviteRow } from '../../../store/access/signup.ts'
import type { Asker, Deps } from '../../deps.ts'
import { mustBeOwner } from './owner.ts'

const validForMs = 24 * 60 * 60_000
const openForMs = 5 * 60_000

type InviteState = 'unused' | 'open' | 'used' | 'over'
type Invite = Pick<InviteRow, 'id' | 'label' | 'createdAt' | 'endsAt'> & { state: InviteState }

/** The code goes into a link and is not stored: 128 random bits, for one account within 24 hours. */
export async function createInvite(
  deps: Pick<Deps, 'store' | 'now' | 'time' | 'newId'>,
  by: Asker,
  label: string
): Promise<{ invite: Invite; code: string }> {
  await mustBeOwner(deps, by)
  const { store, now, time, newId } = deps
  const code = randomBytes(16).toString('base64url')
  const createdAt = now()
  const endsAt = time() + validForMs
  const row = { id: newId() as InviteId, label, createdAt, endsAt }
  await store.addInvite({ ...row, hash: hashInvite(code) })
  return { invite: { ...row, state: 'unused' }, code }
}

export async function listInvites(deps: Pick<Deps, 'store' | 'time'>, by: Asker): Promise<Invite[]> {
  await mustBeOwner(deps, by)
  const { store, time } = deps
  const rows = await store.listInvites()
  return rows.map(({ id, label, createdAt, endsAt, ...row }) => ({
    id,
    label,
    createdAt,
    endsAt,
    state: stateOf({ endsAt, ...row }, time())
  }))
}

/** A used link is only forgotten; the account it let in stays. */
export async function revokeInvite(deps: Pick<Deps, 'store'>, by: Asker, id: InviteId): Promise<void> {
  await mustBeOwner(deps, by)
  if ((await deps.store.removeInvite(id)) === 'missing') throw failure('invite-not-found')
}

/**
 * For apps that cannot send a code: for five minutes one new key is accepted without it, from the network
 * that opened the link.
 */
export async function openInvite(
  { store, time }: Pick<Deps, 'store' | 'time'>,
  code: string,
  { network }: { network: string }
): Promise<{ openUntil: number }> {
  const at = time()
  const outcome = await store.openInvite(hashInvite(code), { network, now: at, until: at + openForMs })
  if (outcome === 'missing') throw failure('invite-not-found')
  return { openUntil: at + openForMs }
}

export function hashInvite(code: string): string {
  return hash('sha256', code, 'base64url')
}

function stateOf({ endsAt, openUntil, usedAt }: Pick<InviteRow, 'endsAt' | 'openUntil' | 'usedAt'>, now: number): InviteState {
  if (usedAt !== null) return 'used'
  if (openUntil !== null && openUntil > now) return 'open'
  return endsAt > now ? 'unused' : 'over'
}
