import { engine, signChallenge, toBase64 } from '../../lib/crypto/index.ts'

/** An account key that signs in: each body contains a fresh challenge. */
export function newSigner(): () => string {
  const secret = engine.randomBytes(32)
  return () => {
    const challenge = engine.randomBytes(32)
    const { publicKey, signature } = signChallenge(secret, challenge)
    return JSON.stringify({ publicKey: toBase64(publicKey), challenge: toBase64(challenge), signature: toBase64(signature) })
  }
}
