import { every } from '../../../async/every.ts'
import { revocationTopic } from '../../../bus/bus.ts'
import { failure } from '../../../protocol/wire/failures.ts'
import type { TokenId } from '../../../protocol/wire/ids.ts'
import { everyScope, isAllowed, type Need, type Scope } from '../../../protocol/wire/scopes.ts'
import { revocationRecentMs } from '../../../store/access/tokens.ts'
import type { Bearer } from '../../../store/rows.ts'
import type { Store } from '../../../store/store.ts'
import type { Caller, Deps } from '../../deps.ts'
import type { Limits } from '../../limits.ts'
import type { Logger } from '../../watch/log.ts'
import { publishRevoked } from '../account/devices.ts'
import { hashToken } from '../account/tokens.ts'

export type { Bearer }

const mostRemembered = 20_000
/** Revocations matter during a lookup or a body, and so that the store's list is not announced again each time. */
const mostRevoked = 20_000
const markUsedEveryMs = 5 * 60_000
const watchEveryMs = 2_000
/**
 * After so long without the store's list of ended tokens, what is cached counts for nothing. Less than the list covers, so
 * that one which comes in time is always complete.
 */
const confirmedForMs = revocationRecentMs / 2

interface Known {
  bearer: Bearer
  markedAt: number
}

/** Finds the owner of a token. Valid tokens are cached until they are revoked, expire or cannot be confirmed. */
export interface Authenticator {
  /**
   * Synchronous when the token is cached; undefined for an unknown token. `from` is the network it is used
   * from.
   */
  bearer(token: string, from?: () => string): Bearer | undefined | Promise<Bearer | undefined>
  /** Whether a token that was valid has been revoked since, for example while a long body arrived. */
  isRevoked(token: TokenId): boolean
  close(): Promise<void>
}

interface AuthenticatorDeps extends Pick<Deps, 'store' | 'bus' | 'time' | 'clock'> {
  limits: Limits
  log: Pick<Logger, 'info'>
  /** Whether the clock is reliable enough to remove expired tokens permanently. They are rejected in any case. */
  mayRemove: () => boolean
  /** Tokens may have ended that this instance will not hear of: whoever is connected must sign in again. */
  onMissed: () => void
}

/** Throws unless the caller's token has this scope. */
export function mustAllow({ scopes }: Pick<Caller, 'scopes'>, need: Need): void {
  if (!isAllowed(scopes, need)) throw failure('scope-missing')
}

/**
 * What a connection with this token may do besides its events: receive updates, and count as the process of
 * its row or as an app in use. A read-only token makes nobody look active.
 */
export function connectionRights({ scopes }: Pick<Caller, 'scopes'>): { mayListen: boolean; isPresent: boolean } {
  return { mayListen: isAllowed(scopes, 'read'), isPresent: isAllowed(scopes, 'write') }
}

export async function createAuthenticator(
  { store, bus, time, clock, limits, log, mayRemove, onMissed }: AuthenticatorDeps,
  onError: (error: unknown) => void = () => {}
): Promise<Authenticator> {
  const knownByHash = new Map<string, Known>()
  const hashByToken = new Map<TokenId, string>()
  // A lookup that began before a revocation may end after it; a token revoked meanwhile must not be
  // cached.
  const revoked = new Set<TokenId>()
  let marks: Parameters<Store['markTokensUsed']>[0][number][] = []
  let isClosed = false
  /** All tokens that ended before are known here. */
  let confirmedAt = clock.now()

  const unsubscribe = await bus.subscribe(revocationTopic, event => {
    if (event.type !== 'token-revoked') return
    if (revoked.size >= mostRevoked) for (const oldest of [...revoked].slice(0, mostRevoked / 2)) revoked.delete(oldest)
    revoked.add(event.token)
    forget(event.token)
  })

  function forget(token: TokenId) {
    const hash = hashByToken.get(token)
    if (hash !== undefined) knownByHash.delete(hash)
    hashByToken.delete(token)
  }

  function isConfirmed(): boolean {
    return clock.now() - confirmedAt <= confirmedForMs
  }

  function forgetAll() {
    knownByHash.clear()
    hashByToken.clear()
  }

  function remember(hash: string, bearer: Bearer): Known {
    if (knownByHash.size >= mostRemembered) {
      const oldest = knownByHash.values().next().value
      if (oldest) forget(oldest.bearer.token)
    }
    const known = { bearer: { ...bearer, scopes: sharedScopes(bearer.scopes) }, markedAt: markedAtOf(bearer, time()) }
    knownByHash.set(hash, known)
    hashByToken.set(bearer.token, hash)
    return known
  }

  function used(known: Known, from: () => string): Bearer | undefined {
    const at = time()
    const { token, idleMs } = known.bearer
    if (hasExpired(known.bearer, at)) {
      forget(token)
      return undefined
    }
    if (at - known.markedAt > markUsedEveryMs) {
      known.markedAt = at
      if (idleMs !== null) known.bearer = { ...known.bearer, expiresAt: at + idleMs }
      marks.push({ token, at, from: from() })
    }
    return known.bearer
  }

  async function lookUp(hash: string, from: string): Promise<Bearer | undefined> {
    limits.check('badToken', `${from} ${hash}`)
    let bearer = await store.findBearer(hash)
    if (bearer !== 'missing' && hasExpired(bearer, time())) {
      // A use that is not written yet may be what keeps this token valid.
      await writeMarks()
      bearer = await store.findBearer(hash)
    }
    if (bearer === 'missing' || revoked.has(bearer.token)) {
      limits.take('badToken', `${from} ${hash}`)
      return undefined
    }
    return used(remember(hash, bearer), () => from)
  }

  // Batched, so that requests cost no commit of their own. Best effort: a list of sign-ins that is
  // slightly behind misleads nobody.
  async function writeMarks(): Promise<void> {
    const waiting = marks
    marks = []
    if (waiting.length > 0) await store.markTokensUsed(waiting).catch(() => {})
  }

  // The bus may be dead, and an instance cut off from it: ended tokens are also read from the store [A4].
  async function readEnded(): Promise<void> {
    const askedAt = clock.now()
    const ended = await store.recentRevocations()
    // First: what fails below, such as a full disk, must not keep an ended token valid here.
    publishRevoked(
      { bus },
      ended.filter(token => !revoked.has(token))
    )
    if (!isConfirmed()) {
      forgetAll()
      onMissed()
    }
    confirmedAt = askedAt
    await writeMarks()
    if (mayRemove()) await removeExpired(time())
  }

  async function removeExpired(now: number): Promise<void> {
    const expired = await store.countExpired(now)
    if (expired.tokens === 0) return
    log.info({ ...expired }, 'Removing what has expired')
    await store.endExpiredTokens(now)
  }

  const watch = every(clock, watchEveryMs, readEnded, error => !isClosed && onError(error))

  return {
    bearer(token, from = () => '') {
      if (token.length > 4096) return undefined
      if (!isConfirmed()) forgetAll()
      const hash = hashToken(token)
      const known = knownByHash.get(hash)
      // Read now: it may be gone after the lookup.
      return known ? used(known, from) : lookUp(hash, from())
    },
    isRevoked: token => revoked.has(token),
    async close() {
      isClosed = true
      watch.close()
      await writeMarks()
      await unsubscribe()
    }
  }
}

/** Most tokens have all, and need no list of their own. */
function sharedScopes(scopes: readonly Scope[]): readonly Scope[] {
  const hasEvery = scopes.length === everyScope.length && everyScope.every((scope, at) => scopes[at] === scope)
  return hasEvery ? everyScope : scopes
}

function hasExpired({ expiresAt }: Bearer, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** When its use was last written, as far as its expiry tells: else a new token would be marked right after it was stored. */
function markedAtOf({ expiresAt, idleMs }: Bearer, now: number): number {
  const at = expiresAt !== null && idleMs !== null ? expiresAt - idleMs : 0
  return at <= now ? at : 0
}
