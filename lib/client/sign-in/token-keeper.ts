import { engine, toBase64 } from '../../crypto/index.ts'
import { Refused, Unreachable } from '../link/refusals.ts'
import type { Fetch, TokenSource } from '../link/rest.ts'
import type { Renewal } from './renewal.ts'

/** What a device stores to stay signed in. */
export interface SignedIn {
  token: string
  /** Absent for a token that cannot be renewed. */
  renewal?: Renewal | undefined
}

export interface KeeperOptions {
  server: string
  fetch: Fetch
  kept: SignedIn
  /** What another tab or process may have renewed meanwhile. */
  latest?: (() => Promise<SignedIn | undefined>) | undefined
  /** To be stored before the new token is used. */
  onRenewed(signedIn: SignedIn): Promise<void> | void
  now?: (() => number) | undefined
}

/** Renews early, when half a day is left, so that an unreachable server signs nobody out. */
const renewBeforeMs = 12 * 60 * 60_000
/** A request takes a moment to arrive. */
const spareMs = 60_000

/**
 * A token that is always valid. Rejects with `Refused` when the device is no longer signed in, with
 * `Unreachable` when a renewal is due and the server cannot be reached.
 */
export function keepToken(options: KeeperOptions): TokenSource {
  const { now = Date.now } = options
  let kept = options.kept
  let renewing: Promise<string> | undefined

  function renewOnce(): Promise<string> {
    renewing ??= renew().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  async function renew(): Promise<string> {
    const theirs = await options.latest?.()
    if (theirs && theirs.token !== kept.token && leftMs(theirs) > spareMs) kept = theirs
    else {
      if (!kept.renewal) return kept.token
      kept = await renewed(kept.renewal)
      await options.onRenewed(kept)
    }
    return kept.token
  }

  // Once a day: the code for it is loaded only then, and failing to load it is like not reaching the
  // server.
  async function renewed(renewal: Renewal): Promise<SignedIn> {
    const { renewToken } = await import('./renewal.ts').catch(cause => {
      throw new Unreachable('network', { cause })
    })
    return renewToken({ ...options, renewal, now })
  }

  const leftMs = ({ renewal }: SignedIn) => (renewal ? renewal.expiresAt - now() : Number.POSITIVE_INFINITY)

  return {
    async token() {
      const left = leftMs(kept)
      if (left <= spareMs) return renewOnce()
      // It is still valid; an error now is retried at the next use.
      if (left <= renewBeforeMs) renewOnce().catch(() => {})
      return kept.token
    },
    async renew(refused) {
      return kept.token === refused ? renewOnce() : kept.token
    }
  }
}

/** A new key for a new device. */
export function newDeviceSeed(): string {
  return toBase64(engine.randomBytes(32))
}

/**
 * Whether the server offers no renewal, like Happy's, or is reached under a name that it does not know.
 */
export function wantsLegacy(error: unknown): boolean {
  if (error instanceof Unreachable) return error.reason === 'strange-answer'
  return error instanceof Refused && (error.status === 404 || error.code === 'This server is not known under that origin')
}
