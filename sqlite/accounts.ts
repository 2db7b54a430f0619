import type { AccountId } from '../lib/protocol/wire/ids.ts'
import type { SignedIn, SignIn, Store } from '../lib/store/store.ts'
import type { Deps } from './deps.ts'
import { insertToken } from './tokens.ts'

/** Accounts, and signing in to them. */
export function accounts({ database, queue }: Deps): Pick<Store, 'signIn' | 'hasAccounts' | 'accountCreatedAt'> {
  const findByKey = database.prepare<[string], AccountId>('SELECT id FROM account WHERE public_key = ?').pluck()
  const findAny = database.prepare<[]>('SELECT 1 FROM account LIMIT 1')
  const create = database.prepare<[AccountId, string, number]>('INSERT INTO account (id, public_key, created_at) VALUES (?, ?, ?)')
  const spend = database.prepare<[Buffer]>('INSERT INTO used_challenge (hash) VALUES (?) ON CONFLICT DO NOTHING')
  const isSpent = database.prepare<[Buffer]>('SELECT 1 FROM used_challenge WHERE hash = ?')
  const createdAt = database.prepare<[AccountId], number>('SELECT created_at FROM account WHERE id = ?').pluck()
  const storeToken = insertToken(database)

  const hasAny = () => findAny.get() !== undefined

  function signIn(ask: SignIn): SignedIn {
    const challenge = Buffer.from(ask.challengeHash, 'base64url')
    if (isSpent.get(challenge)) return { result: 'challenge-used' }
    const known = findByKey.get(ask.publicKey)
    if (known === undefined && !mayCreate(ask)) return { result: 'unknown-key' }

    spend.run(challenge)
    if (known === undefined) create.run(ask.newAccount, ask.publicKey, ask.now)
    const account = known ?? ask.newAccount
    storeToken(account, ask.token(account))
    return { result: 'signed-in', account, created: known === undefined }
  }

  const mayCreate = ({ create }: SignIn) => create === 'always' || (create === 'if-first' && !hasAny())

  return {
    signIn: ask => queue.write(() => signIn(ask)),
    hasAccounts: () => queue.read(hasAny),
    accountCreatedAt: account => queue.read(() => createdAt.get(account) ?? 'missing')
  }
}
