import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import type { LegacyLogin } from '../../lib/store/access/accounts.ts'
import { mostLegacyLogins, type SignedIn, type SignIn } from '../../lib/store/access/sign-in.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { isNotRemoved } from '../engine/leftovers.ts'
import { holdLock } from './named-lock.ts'
import { spendNonce } from './nonces.ts'
import { endOlderTokens } from './renewals.ts'
import { admits } from './signup.ts'
import { storeToken } from './tokens.ts'

interface KnownAccount {
  legacyLogin: LegacyLogin
  legacyLogins: number
  heldUntil: number
}

/** Accounts, and signing in to them. */
export function accounts({
  write,
  read
}: Deps): Pick<Store, 'signIn' | 'hasAccounts' | 'accountCreatedAt' | 'readLegacyLogin' | 'setLegacyLogin' | 'holdLegacyLogins'> {
  // All begin in the shared lane, in order of arrival. A sign-in to an account happens under its lock, so that those at
  // the same moment are counted one by one.
  async function signIn(ask: SignIn): Promise<SignedIn> {
    for (;;) {
      const entered = await write('shared', tx => enter(tx, ask))
      if (entered.result !== 'known') return entered
      const outcome = await write(entered.account, tx => signInTo(tx, entered.account, ask))
      if (outcome !== 'gone') return outcome
    }
  }

  return {
    signIn,
    hasAccounts: () => read(hasAny),
    accountCreatedAt: account =>
      read(async queries => {
        const row = await queries.get<{ at: number }>('SELECT created_at AS at FROM account WHERE id = $1', [account])
        return row?.at ?? 'missing'
      }),
    readLegacyLogin: account =>
      read(async queries => {
        const row = await queries.get<{ may: LegacyLogin }>('SELECT legacy_login AS may FROM account WHERE id = $1', [account])
        return row?.may ?? 'missing'
      }),
    setLegacyLogin: (account, may) =>
      write(account, async tx => {
        const changed = await tx.run('UPDATE account SET legacy_login = $1 WHERE id = $2', [may, account])
        return changed > 0 ? ('set' as const) : ('missing' as const)
      }),
    holdLegacyLogins: until =>
      write('shared', async tx => {
        await tx.run('UPDATE legacy_hold SET until = greatest(until, $1)', [Math.floor(until)])
      })
  }
}

/** Creates an account for a new key. Does nothing if the key has one, not even to the challenge. */
async function enter(tx: Queries, ask: SignIn): Promise<SignedIn | { result: 'known'; account: AccountId }> {
  const known = await findByKey(tx, ask.publicKey)
  if (known) return { result: 'known', account: known }
  // New accounts are created one at a time: only one is the first, and an invitation lets in one key.
  await holdLock(tx, 'accounts')
  const created = await findByKey(tx, ask.publicKey)
  if (created) return { result: 'known', account: created }

  // Used up in any case: a challenge rejected today must not let in an eavesdropper once the account
  // exists.
  if (!(await spendOnce(tx, ask))) return { result: 'challenge-used' }
  const isFirst = !(await hasAny(tx))
  if (!(await admits(tx, ask, isFirst))) return { result: 'unknown-key' }
  const { newAccount: account, publicKey, now } = ask
  await tx.run('INSERT INTO account (id, public_key, role, created_at) VALUES ($1, $2, $3, $4)', [
    account,
    publicKey,
    isFirst ? 'owner' : 'member',
    Math.floor(now)
  ])
  return { result: 'signed-in', account, created: true, device: await finish(tx, account, ask) }
}

async function signInTo(tx: Queries, account: AccountId, ask: SignIn): Promise<SignedIn | 'gone'> {
  const known = await tx.get<KnownAccount>(
    `SELECT legacy_login AS "legacyLogin", legacy_logins AS "legacyLogins", (SELECT until FROM legacy_hold) AS "heldUntil"
     FROM account WHERE id = $1 AND public_key = $2`,
    [account, ask.publicKey]
  )
  if (!known) return 'gone'
  if (!(await spendOnce(tx, ask))) return { result: 'challenge-used' }
  const refusal = ask.fresh ? undefined : legacyRefusal(known, ask.now)
  if (refusal) return { result: refusal }
  return { result: 'signed-in', account, created: false, device: await finish(tx, account, ask) }
}

async function finish(tx: Queries, account: AccountId, ask: SignIn) {
  if (!ask.fresh) await countLegacy(tx, account)
  const token = ask.token(account)
  const device = await storeToken(tx, account, token)
  if (device && !device.isNew) await endOlderTokens(tx, { account, device: device.id, keep: token.id, now: ask.now })
  return device
}

async function findByKey(queries: Queries, publicKey: string): Promise<AccountId | undefined> {
  const row = await queries.get<{ id: AccountId }>('SELECT id FROM account WHERE public_key = $1', [publicKey])
  return row?.id
}

async function hasAny(queries: Queries): Promise<boolean> {
  return (await queries.get(`SELECT 1 FROM account WHERE ${isNotRemoved} LIMIT 1`, [])) !== undefined
}

async function spendOnce(tx: Queries, { fresh, challengeHash, now }: SignIn): Promise<boolean> {
  if (fresh) return spendNonce(tx, challengeHash, now)
  const spent = await tx.run('INSERT INTO used_challenge (hash) VALUES ($1) ON CONFLICT DO NOTHING', [
    Buffer.from(challengeHash, 'base64url')
  ])
  return spent > 0
}

function legacyRefusal({ legacyLogin, legacyLogins, heldUntil }: KnownAccount, now: number): 'held' | 'legacy-off' | undefined {
  if (now < heldUntil) return 'held'
  return legacyLogin === 'off' || legacyLogins >= mostLegacyLogins ? 'legacy-off' : undefined
}

async function countLegacy(tx: Queries, account: AccountId): Promise<void> {
  await tx.run(
    `UPDATE account SET legacy_logins = legacy_logins + 1, legacy_login = CASE legacy_login WHEN 'once' THEN 'off' ELSE legacy_login END
     WHERE id = $1`,
    [account]
  )
}
