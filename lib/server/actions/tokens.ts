import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { revocationTopic } from '../../bus/bus.ts'
import { failure } from '../../protocol/wire/failures.ts'
import type { AccountId, TokenId } from '../../protocol/wire/ids.ts'
import type { TokenDraft, TokenKind, TokenRow } from '../../store/store.ts'
import type { Caller, Deps } from './deps.ts'

export interface NewToken {
  text: string
  draft: TokenDraft
}

/**
 * Makes a token: `afield1-<kind>.<base64 of {"sub":account,"tid":id}>.<secret and checksum>`. Existing apps read `sub`
 * from the middle; the server never does, it knows a token by the hash of the whole text.
 */
export function mintToken({ now, newId }: Pick<Deps, 'now' | 'newId'>, account: AccountId, kind: TokenKind, label: string): NewToken {
  const id = newId() as TokenId
  const payload = Buffer.from(JSON.stringify({ sub: account, tid: id })).toString('base64')
  const secret = randomBytes(32).toString('base64url')
  const text = `afield1-${kind}.${payload}.${secret}${checksum(secret)}`
  return { text, draft: { id, hash: hashToken(text), kind, label, createdAt: now() } }
}

export function hashToken(text: string): string {
  return hash('sha256', text, 'base64url')
}

export async function listTokens({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<(TokenRow & { current: boolean })[]> {
  const rows = await store.listTokens(caller.account)
  return rows.map(row => ({ ...row, current: row.id === caller.token }))
}

/** Ends a sign-in: its token is unknown from here on, and every instance closes its connections. */
export async function revokeToken({ store, bus }: Pick<Deps, 'store' | 'bus'>, caller: Caller, id: TokenId | 'current'): Promise<void> {
  const token = id === 'current' ? caller.token : id
  if (caller.kind === 'terminal' && token !== caller.token) throw failure('app-only')
  const outcome = await store.revokeToken(caller.account, token)
  if (outcome === 'missing') throw failure('token-not-found')
  bus.publish(revocationTopic, { type: 'token-revoked', token })
}

function checksum(secret: string): string {
  return crc32(secret).toString(36).padStart(7, '0').slice(-6)
}
