import { fromBase64, signForServer, signingKeypair, toBase64 } from '../../crypto/index.ts'
import { accountId } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'
import { Unreachable } from '../link/refusals.ts'
import { createRest, type Fetch } from '../link/rest.ts'

/** What renews a device's token. */
export interface Renewal {
  /** 32 bytes, base64: the seed of the key that renews the token. It never leaves the device. */
  deviceSeed: string
  account: string
  /** SHA-256 of the server's identity key, base64, from when the device signed in. */
  serverKeyId: string
  /** By the clock of this device, in milliseconds since 1970. */
  expiresAt: number
}

/** One new token in exchange for the device's own signature. Rejects as a keeper does. */
export async function renewToken({
  server,
  fetch,
  renewal,
  now
}: {
  server: string
  fetch: Fetch
  renewal: Renewal
  now: () => number
}): Promise<{ token: string; renewal: Renewal }> {
  const { deviceSeed, account, serverKeyId } = renewal
  const rest = createRest({ server, fetch })
  const keys = signingKeypair(fromBase64(deviceSeed) ?? new Uint8Array(0))
  const asked = await rest.call('issueNonce', {})
  // The address may have changed hands: another server gets no signature, and cannot end the sign-in to
  // ours.
  if (asked.serverKeyId !== serverKeyId) throw new Unreachable('strange-answer')
  const body = {
    account: v.parse(accountId, account),
    ...claimOf({ server, asked, deviceKey: keys.publicKey, by: keys.secretKey }, 'renew')
  }
  const { token, expiresInMs } = await rest.call('freshSignIn', { body: { purpose: 'renew', ...body } })
  return { token, renewal: { ...renewal, expiresAt: now() + expiresInMs } }
}

/**
 * What a client signs for a server: its nonce, for this device and purpose, under the origin the
 * server is known by.
 */
export function claimOf(
  given: {
    server: string
    asked: { nonce: string; serverKeyId: string }
    deviceKey: Uint8Array
    /** The secret key that signs, of the account or the device. */
    by: Uint8Array
  },
  purpose: 'sign-in' | 'renew' | 'delete-account'
) {
  const { server, asked, deviceKey, by } = given
  const origin = new URL(server).origin
  const said = { serverKeyId: bytesOf(asked.serverKeyId), origin, nonce: bytesOf(asked.nonce), deviceKey, purpose }
  return { deviceKey: toBase64(deviceKey), origin, nonce: asked.nonce, signature: toBase64(signForServer(by, said)) }
}

function bytesOf(text: string): Uint8Array {
  return fromBase64(text) ?? new Uint8Array(0)
}
