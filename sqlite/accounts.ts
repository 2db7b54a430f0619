import type { AccountId } from '../lib/protocol/wire/ids.ts'
import type { LegacyLogin, SignedIn, SignIn, Store } from '../lib/store/store.ts'
import type { Deps } from './deps.ts'
import { insertToken } from './tokens.ts'

/** So many used challenges cost an account 64 KB; after them it signs in over challenges of the server. */
const mostLegacyLogins = 2_000

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
  const findAny = database.prepare<[]>('SELECT 1 FROM account LIMIT 1')
  const create = database.prepare<[AccountId, string, number]>('INSERT INTO account (id, public_key, created_at) VALUES (?, ?, ?)')
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

  const hasAny = () => findAny.get() !== undefined

  function signIn(ask: SignIn): SignedIn {
    // Spent whatever comes of it: what was refused today must not let in whoever heard it once the account is there.
    if (spend.run(Buffer.from(ask.challengeHash, 'base64url')).changes === 0) return { result: 'challenge-used' }
    const known = findByKey.get(ask.publicKey)
    if (known && ask.now < (heldUntil.get() ?? 0)) return { result: 'held' }
    if (known && (known.legacyLogin === 'off' || known.legacyLogins >= mostLegacyLogins)) return { result: 'legacy-off' }
    if (!known && !mayCreate(ask)) return { result: 'unknown-key' }

    if (!known) create.run(ask.newAccount, ask.publicKey, ask.now)
    const account = known?.id ?? ask.newAccount
    count.run(account)
    const device = storeToken(account, ask.token(account))
    return { result: 'signed-in', account, created: !known, device: device?.id }
  }

  const mayCreate = ({ create }: SignIn) => create === 'always' || (create === 'if-first' && !hasAny())

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
