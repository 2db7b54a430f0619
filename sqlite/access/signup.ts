import type { Database } from 'better-sqlite3'
import type { InviteId } from '../../lib/protocol/wire/ids.ts'
import type { SignIn } from '../../lib/store/access/sign-in.ts'
import {
  type InviteDraft,
  type InviteRow,
  inviteKeptMs,
  type SignupRow,
  type SignupStore,
  type Standing
} from '../../lib/store/access/signup.ts'
import type { Deps } from '../engine/deps.ts'
import { pendingLimit } from './pending-limit.ts'

type Asked = 'waiting' | 'approved' | 'rejected'

/** People waiting to be let in, and invitations. */
export function signup({
  database,
  queue
}: Deps): Pick<
  SignupStore,
  'readStanding' | 'askSignup' | 'listSignups' | 'decideSignup' | 'addInvite' | 'listInvites' | 'openInvite' | 'removeInvite'
> {
  const isMember = database.prepare<[string]>('SELECT 1 FROM account WHERE public_key = ?')
  const findState = database.prepare<[string, number], Asked>('SELECT state FROM signup WHERE public_key = ? AND ends_at > ?').pluck()
  const forget = database.prepare<[number]>('DELETE FROM signup WHERE ends_at <= ?')
  const room = pendingLimit(database, {
    table: 'signup',
    index: 'signup_by_end',
    isWaiting: "ends_at > ? AND state = 'waiting'",
    from: 'address',
    key: 'public_key'
  })
  const ask = database.prepare<[string, string, string, string, number, number]>(
    `INSERT INTO signup (public_key, fingerprint, state, client, address, asked_at, ends_at) VALUES (?, ?, 'waiting', ?, ?, ?, ?)`
  )
  const list = database.prepare<[number], SignupRow>(
    `SELECT public_key AS publicKey, fingerprint, client, address, asked_at AS askedAt, ends_at AS endsAt
     FROM signup WHERE ends_at > ? AND state = 'waiting' ORDER BY asked_at DESC, fingerprint`
  )
  const decide = database.prepare<[string, number, string, number]>(
    'UPDATE signup SET state = ?, ends_at = ? WHERE fingerprint = ? AND ends_at > ?'
  )
  const forgetInvites = database.prepare<[number]>('DELETE FROM invite WHERE ends_at <= ?')
  const addInvite = database.prepare<[InviteId, string, string, number, number]>(
    'INSERT INTO invite (id, hash, label, created_at, ends_at) VALUES (?, ?, ?, ?, ?)'
  )
  const listInvites = database.prepare<[], InviteRow>(
    `SELECT id, label, created_at AS createdAt, ends_at AS endsAt, open_until AS openUntil, used_at AS usedAt
     FROM invite ORDER BY created_at DESC, id DESC LIMIT 500`
  )
  const openInvite = database.prepare<[number, string, string, number]>(
    'UPDATE invite SET open_until = ?, open_for = ? WHERE hash = ? AND used_at IS NULL AND ends_at > ?'
  )
  const removeInvite = database.prepare<[InviteId]>('DELETE FROM invite WHERE id = ?')

  const standing = (publicKey: string, now: number): Standing =>
    isMember.get(publicKey) ? 'member' : (findState.get(publicKey, now) ?? 'unknown')

  function wait({ publicKey, fingerprint, client, address, askedAt, endsAt, most }: SignupRow & { most: number }): Asked | 'full' {
    forget.run(askedAt)
    const known = findState.get(publicKey, askedAt)
    if (known) return known
    if (!room.enter({ from: address, now: askedAt, endsAt, most: { inAll: most } })) return 'full'
    ask.run(publicKey, fingerprint, client, address, askedAt, endsAt)
    return 'waiting'
  }

  function invite({ id, hash, label, createdAt, endsAt }: InviteDraft): void {
    forgetInvites.run(createdAt - inviteKeptMs)
    addInvite.run(id, hash, label, createdAt, endsAt)
  }

  return {
    readStanding: (publicKey, now) => queue.read(() => standing(publicKey, now)),
    askSignup: asked => queue.write(() => wait(asked), room),
    listSignups: now => queue.read(() => list.all(now)),
    decideSignup: (fingerprint, { state, now, endsAt }) =>
      queue.write(() => (decide.run(state, endsAt, fingerprint, now).changes > 0 ? ('decided' as const) : ('missing' as const))),
    addInvite: draft => queue.write(() => invite(draft)),
    listInvites: () => queue.read(() => listInvites.all()),
    openInvite: (hash, { network, now, until }) =>
      queue.write(() => (openInvite.run(until, network, hash, now).changes > 0 ? ('opened' as const) : ('missing' as const))),
    removeInvite: id => queue.write(() => (removeInvite.run(id).changes > 0 ? ('removed' as const) : ('missing' as const)))
  }
}

/** Admits a new key, as part of the caller's transaction: what lets one key in is used up by it. */
export function signupCheck(database: Database): (ask: Pick<SignIn, 'publicKey' | 'create' | 'now'>, isFirst: boolean) => boolean {
  const takeApproval = database.prepare<[string, number]>("DELETE FROM signup WHERE public_key = ? AND state = 'approved' AND ends_at > ?")
  const takeInvite = database.prepare<[number, string, number]>(
    'UPDATE invite SET used_at = ? WHERE hash = ? AND used_at IS NULL AND ends_at > ?'
  )
  const takeOpened = database.prepare<[number, string, number]>(
    `UPDATE invite SET used_at = ? WHERE id = (
       SELECT id FROM invite WHERE open_for = ? AND open_until > ? AND used_at IS NULL ORDER BY open_until LIMIT 1)`
  )
  return ({ publicKey, create, now }, isFirst) => {
    switch (create) {
      case 'never':
        return false
      case 'always':
        return true
      case 'if-first':
        return isFirst
      case 'if-approved':
        return takeApproval.run(publicKey, now).changes > 0
    }
    if (create.invite !== null && takeInvite.run(now, create.invite, now).changes > 0) return true
    return takeOpened.run(now, create.network, now).changes > 0
  }
}
