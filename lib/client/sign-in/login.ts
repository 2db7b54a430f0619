import { engine, fromBase64, signChallenge, signInKeypair, signingKeypair, toBase64 } from '../../crypto/index.ts'
import { fingerprintOf } from '../../protocol/wire/fingerprint.ts'
import { createRest, type Fetch, type Rest } from '../link/rest.ts'
import { claimOf } from './renewal.ts'
import { newDeviceSeed, type SignedIn, wantsLegacy } from './token-keeper.ts'

export interface SignInOptions {
  server: string
  secret: Uint8Array
  fetch: Fetch
  setupCode?: string | undefined
  /** The code of an invitation. */
  invite?: string | undefined
  /** The name in the list of devices. */
  deviceName?: string | undefined
}

/**
 * Signs in with the account secret; creates the account if the server allows it. `setupCode` is required for
 * the first account of a server. Rejects with `Unreachable`, or `Refused`, whose `code` is one of
 * `setup-code-required`, `This server accepts no new accounts.`, …: see `failures` of the wire. Call after
 * `cryptoReady()`.
 *
 * The token is valid for a day, and `keepToken` renews it with a key made for this device; a server without
 * renewal gives one that is valid until it is revoked.
 */
export async function signIn(options: SignInOptions): Promise<SignedIn> {
  const rest = createRest(options)
  try {
    return await signInFresh(rest, options)
  } catch (error) {
    if (!wantsLegacy(error)) throw error
    return signInLegacy(rest, options)
  }
}

/**
 * Four words that represent the key of an account, as shown to the owner of a server who is asked to
 * let it in. Call after `cryptoReady()`.
 */
export function keyFingerprint(secret: Uint8Array): string {
  return fingerprintOf(engine.sha256(signInKeypair(secret).publicKey))
}

async function signInFresh(rest: Rest, options: SignInOptions): Promise<SignedIn> {
  const asked = await rest.call('issueNonce', {})
  const deviceSeed = newDeviceSeed()
  const account = signInKeypair(options.secret)
  const device = signingKeypair(fromBase64(deviceSeed) ?? new Uint8Array(0))
  const claim = claimOf({ server: options.server, asked, deviceKey: device.publicKey, by: account.secretKey }, 'sign-in')
  const body = { purpose: 'sign-in' as const, publicKey: toBase64(account.publicKey), ...claim, ...newcomer(options) }
  const { token, account: id, expiresInMs } = await rest.call('freshSignIn', { body })
  return { token, renewal: { deviceSeed, account: id, serverKeyId: asked.serverKeyId, expiresAt: Date.now() + expiresInMs } }
}

async function signInLegacy(rest: Rest, options: SignInOptions): Promise<SignedIn> {
  // The server remembers each challenge and accepts it once, so a captured sign-in is worthless [A1].
  const challenge = engine.randomBytes(32)
  const { publicKey, signature } = signChallenge(options.secret, challenge)
  const claim = { publicKey: toBase64(publicKey), challenge: toBase64(challenge), signature: toBase64(signature) }
  const { token } = await rest.call('signIn', { body: { ...claim, ...newcomer(options) } })
  return { token }
}

function newcomer({ setupCode, invite, deviceName }: SignInOptions) {
  return { setupCode, invite, deviceName }
}
