import { engine, fromBase64, signForServer, signingKeypair, toBase64 } from '../crypto/index.ts'
import { accountId } from '../protocol/wire/ids.ts'
import { Refused, Unreachable } from './refusals.ts'
import { createRest, type Fetch, type TokenSource } from './rest.ts'

/** What a device keeps to stay signed in. */
export interface SignedIn {
  token: string
  /** Absent for a token that cannot be renewed. */
  renewal?: Renewal | undefined
}

export interface Renewal {
  /** 32 bytes, base64: the seed of the key that renews the token. It never leaves the device. */
  deviceSeed: string
  account: string
  /** SHA-256 of the server's identity key, base64, as it was when the device signed in. */
  serverKeyId: string
  /** By the clock of this device, in milliseconds since 1970. */
  expiresAt: number
}

export interface KeeperOptions {
  server: string
  fetch: Fetch
  kept: SignedIn
  /** What another tab or process may have renewed meanwhile. */
  latest?: (() => Promise<SignedIn | undefined>) | undefined
  /** To be kept before the new token is used. */
  onRenewed(signedIn: SignedIn): Promise<void> | void
  now?: (() => number) | undefined
}

/** Renews early, when half a day is left, so that a server that is away for a while signs nobody out. */
const renewBeforeMs = 12 * 60 * 60_000
/** A request takes a moment to arrive. */
const spareMs = 60_000

/**
 * A token that is always good. Asking for it rejects with `Refused` when the device is signed in no more, with `Unreachable` when
 * the server cannot be asked and has to be.
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
      kept = await renewToken({ ...options, renewal: kept.renewal, now })
      await options.onRenewed(kept)
    }
    return kept.token
  }

  const leftMs = ({ renewal }: SignedIn) => (renewal ? renewal.expiresAt - now() : Number.POSITIVE_INFINITY)

  return {
    async token() {
      const left = leftMs(kept)
      if (left <= spareMs) return renewOnce()
      // It is still good; what goes wrong now is tried again at the next use.
      if (left <= renewBeforeMs) renewOnce().catch(() => {})
      return kept.token
    },
    async renew(refused) {
      return kept.token === refused ? renewOnce() : kept.token
    }
  }
}

/** One new token for the device's own signature. Rejects as a keeper does. */
async function renewToken({
  server,
  fetch,
  renewal,
  now
}: Pick<KeeperOptions, 'server' | 'fetch'> & { renewal: Renewal; now: () => number }): Promise<SignedIn> {
  const { deviceSeed, account, serverKeyId } = renewal
  const rest = createRest({ server, fetch })
  const keys = signingKeypair(fromBase64(deviceSeed) ?? new Uint8Array(0))
  const asked = await rest.call('issueNonce', {})
  // The address may have changed hands: another server gets no signature, and cannot end the sign-in to ours.
  if (asked.serverKeyId !== serverKeyId) throw new Unreachable('strange-answer')
  const body = { account: accountId.parse(account), ...claimOf({ server, asked, deviceKey: keys.publicKey, by: keys.secretKey }, 'renew') }
  const { token, expiresInMs } = await rest.call('freshSignIn', { body: { purpose: 'renew', ...body } })
  return { token, renewal: { ...renewal, expiresAt: now() + expiresInMs } }
}

/** What a client signs for a server: its nonce, for this device and purpose, under the origin it is known by. */
export function claimOf(
  given: {
    server: string
    asked: { nonce: string; serverKeyId: string }
    deviceKey: Uint8Array
    /** The secret key that signs: of the account or of the device. */
    by: Uint8Array
  },
  purpose: 'sign-in' | 'renew' | 'delete-account'
) {
  const { server, asked, deviceKey, by } = given
  const origin = new URL(server).origin
  const said = { serverKeyId: bytesOf(asked.serverKeyId), origin, nonce: bytesOf(asked.nonce), deviceKey, purpose }
  return { deviceKey: toBase64(deviceKey), origin, nonce: asked.nonce, signature: toBase64(signForServer(by, said)) }
}

/** A key of its own for a new device. */
export function newDeviceSeed(): string {
  return toBase64(engine.randomBytes(32))
}

/** Whether the server has none of this, as Happy's has not, or is reached in a way that it does not know itself by. */
export function wantsLegacy(error: unknown): boolean {
  if (error instanceof Unreachable) return error.reason === 'strange-answer'
  return error instanceof Refused && (error.status === 404 || error.code === 'This server is not known under that origin')
}

function bytesOf(text: string): Uint8Array {
  return fromBase64(text) ?? new Uint8Array(0)
}
