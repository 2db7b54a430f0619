import type { SignIn } from '../../lib/store/access/sign-in.ts'
import { type InviteRow, inviteKeptMs, type SignupRow, type SignupStore, type Standing } from '../../lib/store/access/signup.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { holdLock } from './named-lock.ts'
import { pendingLimit } from './pending-limit.ts'

type Asked = 'waiting' | 'approved' | 'rejected'

/** People waiting to be let in, and invitations. */
export function signup({
  write,
  read
}: Deps): Pick<
  SignupStore,
  'readStanding' | 'askSignup' | 'listSignups' | 'decideSignup' | 'addInvite' | 'listInvites' | 'openInvite' | 'removeInvite'
> {
  const room = pendingLimit({ table: 'signup', isWaiting: "ends_at > $1 AND state = 'waiting'", from: 'address', key: 'public_key' })

  async function wait(tx: Queries, { publicKey, fingerprint, client, address, askedAt, endsAt, most }: SignupRow & { most: number }) {
    // Others that ask are counted first.
    await holdLock(tx, 'signups')
    await tx.run('DELETE FROM signup WHERE ends_at <= $1', [askedAt])
    const known = await stateOf(tx, publicKey, askedAt)
    if (known) return known
    if (!(await room.enter(tx, { from: address, now: askedAt, endsAt, most: { inAll: most } }))) return 'full' as const
    await tx.run(
      `INSERT INTO signup (public_key, fingerprint, state, client, address, asked_at, ends_at) VALUES ($1, $2, 'waiting', $3, $4, $5, $6)`,
      [publicKey, fingerprint, client, address, askedAt, endsAt]
    )
    return 'waiting' as const
  }

  return {
    readStanding: (publicKey, now) => read(queries => standing(queries, publicKey, Math.floor(now))),
    askSignup: asked => write('shared', tx => wait(tx, { ...asked, askedAt: Math.floor(asked.askedAt), endsAt: Math.floor(asked.endsAt) })),
    listSignups: now =>
      read(queries =>
        queries.all<SignupRow>(
          `SELECT public_key AS "publicKey", fingerprint, client, address, asked_at AS "askedAt", ends_at AS "endsAt"
           FROM signup WHERE ends_at > $1 AND state = 'waiting' ORDER BY asked_at DESC, fingerprint`,
          [Math.floor(now)]
        )
      ),
    decideSignup: (fingerprint, { state, now, endsAt }) =>
      write('shared', async tx => {
        const decided = await tx.run('UPDATE signup SET state = $1, ends_at = $2 WHERE fingerprint = $3 AND ends_at > $4', [
          state,
          Math.floor(endsAt),
          fingerprint,
          Math.floor(now)
        ])
        return decided > 0 ? ('decided' as const) : ('missing' as const)
      }),
    addInvite: ({ id, hash, label, createdAt, endsAt }) =>
      write('shared', async tx => {
        await tx.run('DELETE FROM invite WHERE ends_at <= $1', [Math.floor(createdAt) - inviteKeptMs])
        await tx.run('INSERT INTO invite (id, hash, label, created_at, ends_at) VALUES ($1, $2, $3, $4, $5)', [
          id,
          hash,
          label,
          createdAt,
          endsAt
        ])
      }),
    listInvites: () =>
      read(queries =>
        queries.all<InviteRow>(
          `SELECT id, label, created_at AS "createdAt", ends_at AS "endsAt", open_until AS "openUntil", used_at AS "usedAt"
           FROM invite ORDER BY created_at DESC, id DESC LIMIT 500`,
          []
        )
      ),
    openInvite: (hash, { network, now, until }) =>
      write('shared', async tx => {
        const opened = await tx.run(
          'UPDATE invite SET open_until = $1, open_for = $2 WHERE hash = $3 AND used_at IS NULL AND ends_at > $4',
          [Math.floor(until), network, hash, Math.floor(now)]
        )
        return opened > 0 ? ('opened' as const) : ('missing' as const)
      }),
    removeInvite: id =>
      write('shared', async tx => {
        const removed = await tx.run('DELETE FROM invite WHERE id = $1', [id])
        return removed > 0 ? ('removed' as const) : ('missing' as const)
      })
  }
}

/** Admits a new key, as part of the caller's transaction: what lets one key in is used up by it. */
export async function admits(tx: Queries, { publicKey, create, now }: Pick<SignIn, 'publicKey' | 'create' | 'now'>, isFirst: boolean) {
  const at = Math.floor(now)
  switch (create) {
    case 'never':
      return false
    case 'always':
      return true
    case 'if-first':
      return isFirst
    case 'if-approved':
      return (await tx.run("DELETE FROM signup WHERE public_key = $1 AND state = 'approved' AND ends_at > $2", [publicKey, at])) > 0
  }
  return (create.invite !== null && (await takeInvite(tx, create.invite, at))) || takeOpened(tx, create.network, at)
}

async function takeInvite(tx: Queries, hash: string, now: number): Promise<boolean> {
  const taken = await tx.run('UPDATE invite SET used_at = $1 WHERE hash = $2 AND used_at IS NULL AND ends_at > $1', [now, hash])
  return taken > 0
}

async function takeOpened(tx: Queries, network: string, now: number): Promise<boolean> {
  const taken = await tx.run(
    `UPDATE invite SET used_at = $1 WHERE id = (
       SELECT id FROM invite WHERE open_for = $2 AND open_until > $1 AND used_at IS NULL ORDER BY open_until LIMIT 1 FOR UPDATE)`,
    [now, network]
  )
  return taken > 0
}

async function standing(queries: Queries, publicKey: string, now: number): Promise<Standing> {
  const row = await queries.get<{ state: Standing }>(
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM account WHERE public_key = $1) THEN 'member'
       ELSE coalesce((SELECT state FROM signup WHERE public_key = $1 AND ends_at > $2), 'unknown') END AS state`,
    [publicKey, now]
  )
  return row?.state ?? 'unknown'
}

async function stateOf(queries: Queries, publicKey: string, now: number): Promise<Asked | undefined> {
  const row = await queries.get<{ state: Asked }>('SELECT state FROM signup WHERE public_key = $1 AND ends_at > $2', [publicKey, now])
  return row?.state
}
