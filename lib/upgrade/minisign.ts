import { createHash, createPublicKey, verify } from 'node:crypto'

/** `unknown-key`: well-formed, but made with a key that this build does not have. */
type SignatureVerdict = 'valid' | 'invalid' | 'unknown-key'

const keyIdBytes = 8
const signatureBytes = 64
const publicKeyBytes = 32

/**
 * Checks a signature in the format of minisign, its trusted comment included. `keys` is a public key file of minisign, or
 * several of them joined, so that a release can announce the next key. Never throws.
 */
export function verifyMinisign({ keys, content, signature }: { keys: string; content: Buffer; signature: string }): SignatureVerdict {
  const given = parseSignature(signature)
  if (!given) return 'invalid'
  const key = parseKeys(keys).find(({ id }) => id.equals(given.keyId))
  if (!key) return 'unknown-key'
  const signed = given.isPrehashed ? createHash('blake2b512').update(content).digest() : content
  const isOfContent = isSignature(key.publicKey, signed, given.ofContent)
  const isOfComment = isSignature(key.publicKey, Buffer.concat([given.ofContent, given.trustedComment]), given.ofComment)
  return isOfContent && isOfComment ? 'valid' : 'invalid'
}

function parseSignature(text: string) {
  const lines = text.split(/\r?\n/)
  const [untrusted = '', first = '', trusted = '', second = '', ...rest] = lines
  if (!untrusted.startsWith('untrusted comment:') || !trusted.startsWith(trustedPrefix) || rest.some(line => line !== '')) return undefined
  const head = Buffer.from(first, 'base64')
  const ofComment = Buffer.from(second, 'base64')
  const algorithm = head.toString('latin1', 0, 2)
  if (head.length !== 2 + keyIdBytes + signatureBytes || ofComment.length !== signatureBytes || !['Ed', 'ED'].includes(algorithm)) {
    return undefined
  }
  return {
    isPrehashed: algorithm === 'ED',
    keyId: head.subarray(2, 2 + keyIdBytes),
    ofContent: head.subarray(2 + keyIdBytes),
    trustedComment: Buffer.from(trusted.slice(trustedPrefix.length)),
    ofComment
  }
}

const trustedPrefix = 'trusted comment: '

function parseKeys(text: string): { id: Buffer; publicKey: Buffer }[] {
  return text
    .split(/\r?\n/)
    .filter(line => line !== '' && !line.startsWith('untrusted comment:'))
    .map(line => Buffer.from(line, 'base64'))
    .filter(bytes => bytes.length === 2 + keyIdBytes + publicKeyBytes && bytes.toString('latin1', 0, 2) === 'Ed')
    .map(bytes => ({ id: bytes.subarray(2, 2 + keyIdBytes), publicKey: bytes.subarray(2 + keyIdBytes) }))
}

function isSignature(publicKey: Buffer, signed: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') }, format: 'jwk' })
  return verify(null, signed, key, signature)
}
