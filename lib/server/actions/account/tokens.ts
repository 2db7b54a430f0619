import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { failure } from '../../../protocol/wire/failures.ts'
import type { AccountId, DeviceId, TokenId } from '../../../protocol/wire/ids.ts'
import type { BodyOf } from '../../../protocol/wire/routes.ts'
import { everyScope, type Scope } from '../../../protocol/wire/scopes.ts'
import type { TokenDraft, TokenKind, TokenRow } from '../../../store/rows.ts'
import type { Caller, Deps } from '../../deps.ts'
import { publishRevoked, removeDevice } from './devices.ts'

const dayMs = 24 * 60 * 60_000
/** Existing clients store their token forever and cannot renew it: it expires when unused for this long. */
const legacyIdleMs = 180 * dayMs
/** A device with its own key renews its token well before. */
const accessForMs = dayMs

export interface NewToken {
  text: string
  draft: TokenDraft
  /** How long it is valid; null for ever. */
  lastsMs: number | null
}

/** Who gets a token, and what for. */
interface TokenAsk {
  kind: TokenKind
  label: string
  /** The network it was requested from. */
  from: string
  /** base64 of the key with which its device renews it. */
  deviceKey?: string | undefined
  /** How many devices the account may have including this one. */
  mostDevices?: number
  /** Of a named token. */
  scopes?: readonly Scope[]
  expiresAt?: number | null
}

/**
 * Creates a token: `afield1-<kind>.<base64 of {"sub":account,"tid":id}>.<secret and checksum>`. Existing
 * apps read `sub` from the middle; the server never does, it identifies a token by the hash of the whole
 * text.
 */
export function mintToken({ now, time, newId }: Pick<Deps, 'now' | 'time' | 'newId'>, account: AccountId, ask: TokenAsk): NewToken {
  const { kind, label, from, deviceKey } = ask
  const id = newId() as TokenId
  const payload = Buffer.from(JSON.stringify({ sub: account, tid: id })).toString('base64')
  const secret = randomBytes(32).toString('base64url')
  const text = `afield1-${kind}.${payload}.${secret}${checksum(secret)}`
  const device = kind === 'named' ? null : { id: newId() as DeviceId, publicKey: deviceKey ?? null, most: ask.mostDevices }
  const scopes = ask.scopes ?? scopesOf[kind]
  const at = time()
  const draft = { id, hash: hashToken(text), kind, label, scopes, device, from, createdAt: now(), ...lifeOf(ask, at) }
  return { text, draft, lastsMs: draft.expiresAt === null ? null : draft.expiresAt - at }
}

// A token stolen from a computer must not let anyone in: a wrapper's token approves nothing and ends no
// sign-in.
const scopesOf: Record<TokenKind, readonly Scope[]> = {
  account: everyScope,
  device: everyScope,
  terminal: ['read', 'write', 'call'],
  named: []
}

function lifeOf({ kind, deviceKey, expiresAt = null }: TokenAsk, now: number): Pick<TokenDraft, 'expiresAt' | 'idleMs'> {
  if (kind === 'named') return { expiresAt, idleMs: null }
  if (deviceKey !== undefined) return { expiresAt: now + accessForMs, idleMs: null }
  return { expiresAt: now + legacyIdleMs, idleMs: legacyIdleMs }
}

export function hashToken(text: string): string {
  return hash('sha256', text, 'base64url')
}

export async function listTokens({ store }: Pick<Deps, 'store'>, caller: Pick<Caller, 'account'>): Promise<TokenRow[]> {
  return store.listTokens(caller.account)
}

/**
 * Creates a named token; its text is returned only this once. No one can grant more than they may do
 * themselves.
 */
export async function createToken(
  deps: Pick<Deps, 'store' | 'now' | 'time' | 'newId'> & Partial<Pick<Deps, 'quotas'>>,
  caller: Pick<Caller, 'account' | 'scopes'>,
  { name, scopes, expiresAt }: BodyOf<'createToken'>
): Promise<{ id: TokenId; token: string }> {
  if (scopes.some(scope => !caller.scopes.includes(scope))) throw failure('scope-missing')
  const { text, draft } = mintToken(deps, caller.account, { kind: 'named', label: name, from: '', scopes, expiresAt: expiresAt ?? null })
  await deps.store.addToken(caller.account, draft, deps.quotas?.(caller.account))
  return { id: draft.id, token: text }
}

/** Ends a token, and the whole device if it belongs to one: otherwise it could be renewed. */
export async function revokeToken(deps: Pick<Deps, 'store' | 'bus'>, caller: Caller, id: TokenId | 'current'): Promise<void> {
  const token = id === 'current' ? caller.token : id
  if (token !== caller.token && !caller.scopes.includes('manage')) throw failure('scope-missing')
  const device = await deps.store.findDeviceOf(caller.account, token)
  if (device === 'missing') throw failure('token-not-found')
  if (device !== 'none') return removeDevice(deps, caller, device)
  await endNamedToken(deps, caller.account, token)
}

export async function endNamedToken(deps: Pick<Deps, 'store' | 'bus'>, account: AccountId, token: TokenId): Promise<void> {
  if ((await deps.store.revokeToken(account, token)) === 'missing') throw failure('token-not-found')
  publishRevoked(deps, [token])
}

function checksum(secret: string): string {
  return crc32(secret).toString(36).padStart(7, '0').slice(-6)
}
