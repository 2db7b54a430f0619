import { engine, signChallenge, toBase64 } from '../crypto/index.ts'
import { createRest, type Fetch } from './rest.ts'

/**
 * Signs in with the account secret, over a fresh challenge each time; creates the account when the server allows it. `setupCode` is what
 * the first account of a server needs. Rejects with `Unreachable`, or `Refused`, whose `code` is one of `setup-code-required`,
 * `This server takes no new accounts.`, …: see `failures` of the wire. Call after `cryptoReady()`.
 */
export async function signIn(options: {
  server: string
  secret: Uint8Array
  fetch: Fetch
  setupCode?: string | undefined
  /** How the list of devices shows this one. */
  deviceName?: string | undefined
}): Promise<{ token: string }> {
  const { server, secret, fetch, setupCode, deviceName } = options
  // The server remembers each challenge and takes it once, so a captured sign-in is worth nothing [A1].
  const challenge = engine.randomBytes(32)
  const { publicKey, signature } = signChallenge(secret, challenge)
  const body = {
    publicKey: toBase64(publicKey),
    challenge: toBase64(challenge),
    signature: toBase64(signature),
    setupCode,
    deviceName
  }
  const { token } = await createRest({ server, fetch }).call('signIn', { body })
  return { token }
}
