import { revocationTopic } from '../../bus/bus.ts'
import type { TokenId } from '../../protocol/wire/ids.ts'
import type { Bearer } from '../../store/store.ts'
import type { Deps } from './deps.ts'
import { hashToken } from './tokens.ts'

const mostRemembered = 20_000
const markUsedEveryMs = 5 * 60_000

interface Known {
  bearer: Bearer
  markedAt: number
}

/** Finds who a token belongs to. Good tokens are remembered until they are revoked. */
export interface Authenticator {
  /** At once when the token is remembered; undefined for a token nobody has. */
  bearer(token: string): Bearer | undefined | Promise<Bearer | undefined>
  /** Whether a token that was good has been revoked since, such as while a long body arrived. */
  isRevoked(token: TokenId): boolean
  close(): Promise<void>
}

export async function createAuthenticator({ store, bus, now }: Pick<Deps, 'store' | 'bus' | 'now'>): Promise<Authenticator> {
  const knownByHash = new Map<string, Known>()
  const hashByToken = new Map<TokenId, string>()
  // A look-up that began before a revocation may end after it; what was revoked meanwhile must not be remembered.
  const revoked = new Set<TokenId>()

  const unsubscribe = await bus.subscribe(revocationTopic, event => {
    if (event.type !== 'token-revoked') return
    revoked.add(event.token)
    forget(event.token)
  })

  function forget(token: TokenId) {
    const hash = hashByToken.get(token)
    if (hash !== undefined) knownByHash.delete(hash)
    hashByToken.delete(token)
  }

  function remember(hash: string, bearer: Bearer): Known {
    if (knownByHash.size >= mostRemembered) {
      const oldest = knownByHash.values().next().value
      if (oldest) forget(oldest.bearer.token)
    }
    const known = { bearer, markedAt: 0 }
    knownByHash.set(hash, known)
    hashByToken.set(bearer.token, hash)
    return known
  }

  function used(known: Known): Bearer {
    const at = now()
    if (at - known.markedAt > markUsedEveryMs) {
      known.markedAt = at
      // Best effort: a list of sign-ins that is some minutes behind misleads nobody.
      store.markTokensUsed([{ token: known.bearer.token, at }]).catch(() => {})
    }
    return known.bearer
  }

  async function lookUp(hash: string): Promise<Bearer | undefined> {
    const bearer = await store.findBearer(hash)
    if (bearer === 'missing' || revoked.has(bearer.token)) return undefined
    return used(remember(hash, bearer))
  }

  return {
    bearer(token) {
      if (token.length > 4096) return undefined
      const hash = hashToken(token)
      const known = knownByHash.get(hash)
      return known ? used(known) : lookUp(hash)
    },
    isRevoked: token => revoked.has(token),
    close: unsubscribe
  }
}
