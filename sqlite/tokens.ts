import type { Database } from 'better-sqlite3'
import type { AccountId, TokenId } from '../lib/protocol/wire/ids.ts'
import type { Bearer, Store, TokenDraft, TokenKind, TokenRow } from '../lib/store/store.ts'
import type { Deps } from './deps.ts'

/** The tokens of an account, known by their hashes alone. */
export function tokens({ database, queue }: Deps): Pick<Store, 'findBearer' | 'listTokens' | 'revokeToken' | 'markTokensUsed'> {
  const find = database.prepare<[string], Bearer>(
    'SELECT (SELECT id FROM account WHERE key = token.account) AS account, id AS token, kind FROM token WHERE hash = ?'
  )
  const list = database.prepare<[AccountId], TokenRow>(
    `SELECT id, kind, label, created_at AS createdAt, last_used_at AS lastUsedAt FROM token
     WHERE account = (SELECT key FROM account WHERE id = ?) ORDER BY last_used_at DESC, key DESC`
  )
  const revoke = database.prepare<[AccountId, TokenId]>(
    'DELETE FROM token WHERE account = (SELECT key FROM account WHERE id = ?) AND id = ?'
  )
  const markUsed = database.prepare<[number, TokenId]>('UPDATE token SET last_used_at = max(last_used_at, ?) WHERE id = ?')

  return {
    findBearer: hash => queue.read(() => find.get(hash) ?? 'missing'),
    listTokens: account => queue.read(() => list.all(account)),
    revokeToken: (account, token) => queue.write(() => (revoke.run(account, token).changes > 0 ? 'revoked' : 'missing')),
    markTokensUsed: marks =>
      queue.write(() => {
        for (const { token, at } of marks) markUsed.run(Math.floor(at), token)
      })
  }
}

/** Stores a new token of an account, as part of the caller's transaction. */
export function insertToken(database: Database): (account: AccountId, draft: TokenDraft) => void {
  const insert = database.prepare<[AccountId, TokenId, string, TokenKind, string, number, number]>(
    `INSERT INTO token (account, id, hash, kind, label, created_at, last_used_at)
     VALUES ((SELECT key FROM account WHERE id = ?), ?, ?, ?, ?, ?, ?)`
  )
  return (account, { id, hash, kind, label, createdAt }) => {
    insert.run(account, id, hash, kind, label, createdAt, createdAt)
  }
}
