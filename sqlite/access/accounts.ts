import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import type { LegacyLogin, Role } from '../../lib/store/access/accounts.ts'
import { mostLegacyLogins, type SignedIn, type SignIn } from '../../lib/store/access/sign-in.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'
import { isNotRemoved } from '../engine/leftovers.ts'
import { spendNonce } from './nonces.ts'
import { endOlderTokens } from './renewals.ts'
import { signupCheck } from './signup.ts'
import { insertToken } from './tokens.ts'

interface KnownAccount {
  id: AccountId
  legacyLogin: LegacyLogin
  legacyLogins: number
}

/** Accounts, and signing in to them. */
export function accounts({
  database,
  queue
}: Deps): Pick<Store, 'signIn' | 'hasAccounts' | 'accountCreatedAt' | 'readLegacyLogin' | 'setLegacyLogin' | 'holdLegacyLogins'> {
  const findByKey = database.prepare<[string], KnownAccount>(
    'SELECT id, legacy_login AS legacyLogin, legacy_logins AS legacyLogins FROM account WHERE public_key = ?'
  )
  const findAny = database.prepare<[]>(`SELECT 1 FROM account WHERE ${isNotRemoved} LIMIT 1`)
  const create = database.prepare<[AccountId, string, Role, number]>(
    'INSERT INTO account (id, public_key, role, created_at) VALUES (?, ?, ?, ?)'
  )
  const spend = database.prepare<[Buffer]>('INSERT INTO used_challenge (hash) VALUES (?) ON CONFLICT DO NOTHING')
  const createdAt = database.prepare<[AccountId], number>('SELECT created_at FROM account WHERE id = ?').pluck()
  const count = database.prepare<[AccountId]>(
    `UPDATE account SET legacy_logins = legacy_logins + 1, legacy_login = CASE legacy_login WHEN 'once' THEN 'off' ELSE legacy_login END
     WHERE id = ?`
  )
  const readLegacy = database.prepare<[AccountId], LegacyLogin>('SELECT legacy_login FROM account WHERE id = ?').pluck()
  const writeLegacy = database.prepare<[LegacyLogin, AccountId]>('UPDATE account SET legacy_login = ? WHERE id = ?')
  const heldUntil = database.prepare<[], number>('SELECT until FROM legacy_hold WHERE only = 1').pluck()
  const hold = database.prepare<[number]>('UPDATE legacy_hold SET until = max(until, ?) WHERE only = 1')
  const storeToken = insertToken(database)
  const spendFresh = spendNonce(database)
  const endOlder = endOlderTokens(database)
  const mayCreate = signupCheck(database)

  const hasAny = () => findAny.get() !== undefined

  function signIn(ask: SignIn): SignedIn {
    // Used up in any case: a challenge rejected today must not let in an eavesdropper once the account
    // exists.
    if (!spendOnce(ask)) return { result: 'challenge-used' }
    const known = findByKey.get(ask.publicKey)
    const refusal = known && !ask.fresh ? legacyRefusal(known, ask.now) : undefined
    if (refusal) return { result: refusal }
    const isFirst = !known && !hasAny()
    if (!known && !mayCreate(ask, isFirst)) return { result: 'unknown-key' }

    if (!known) create.run(ask.newAccount, ask.publicKey, isFirst ? 'owner' : 'member', ask.now)
    const account = known?.id ?? ask.newAccount
    if (!ask.fresh) count.run(account)
    const token = ask.token(account)
    const device = storeToken(account, token)
    if (device && !device.isNew) endOlder(account, device.id, token.id, ask.now)
    return { result: 'signed-in', account, created: !known, device }
  }

  const spendOnce = ({ fresh, challengeHash, now }: SignIn) =>
    fresh ? spendFresh(challengeHash, now) : spend.run(Buffer.from(challengeHash, 'base64url')).changes > 0

  function legacyRefusal({ legacyLogin, legacyLogins }: KnownAccount, now: number): 'held' | 'legacy-off' | undefined {
    if (now < (heldUntil.get() ?? 0)) return 'held'
    return legacyLogin === 'off' || legacyLogins >= mostLegacyLogins ? 'legacy-off' : undefined
  }

  return {
    signIn: ask => queue.write(() => signIn(ask)),
    hasAccounts: () => queue.read(hasAny),
    accountCreatedAt: account => queue.read(() => createdAt.get(account) ?? 'missing'),
    readLegacyLogin: account => queue.read(() => readLegacy.get(account) ?? 'missing'),
    setLegacyLogin: (account, may) =>
      queue.write(() => (writeLegacy.run(may, account).changes > 0 ? ('set' as const) : ('missing' as const))),
    holdLegacyLogins: until =>
      queue.write(() => {
        hold.run(Math.floor(until))
      })
  }
}
