import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { concatBytes, encodeUtf8, fromHex } from '../../lib/crypto/index.ts'

export interface Dialect {
  name: string
  claim: { publicKey: Uint8Array; message: Uint8Array; signature: Uint8Array }
  /** What some verifier in use (ZIP-215, tweetnacl, old OpenSSL) says, to show that refusing it is an achievement. */
  isLaxlyValid: boolean
}

/** Claims that a strict verifier refuses; made from curve arithmetic, so that each is as close to a real signature as can be. */
export function refusedDialects(): Dialect[] {
  return [
    ...shiftedS(),
    ...smallOrderKeys(),
    ...smallOrderRs(),
    ...torsionedPoints(),
    ...encodingsAboveThePrime(),
    ...wrongLengths(),
    ...wrongBits()
  ]
}

export function honestClaim(text = 'a challenge') {
  const message = encodeUtf8(text)
  return { publicKey: publicKey.toBytes(), message, signature: signedBy(publicKey.toBytes(), r.toBytes(), message, secret) }
}

/** The fourteen encodings of the eight points of small order: each sign of x, each y, and y plus the prime where that fits. */
export const smallOrderEncodings = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'
].flatMap(hex => [bytesOf(hex), withTopBit(bytesOf(hex))])

const { Point } = ed25519
const groupOrder = Point.Fn.ORDER
const secret = 0x1234567890abcdef1234567890abcdef1234567890abcdefn
const nonce = 0xfedcba0987654321fedcba0987654321n
const publicKey = Point.BASE.multiply(secret)
const r = Point.BASE.multiply(nonce)

function shiftedS(): Dialect[] {
  const claim = honestClaim()
  const s = littleEndian(claim.signature.subarray(32))
  const fitting = [1n, 2n, 3n, 7n, 14n, 15n]
    .map(times => ({ times, shifted: s + times * groupOrder }))
    .filter(({ shifted }) => shifted < 1n << 256n)
  return fitting.map(({ times, shifted }) => ({
    name: `S + ${times}·L`,
    claim: { ...claim, signature: concatBytes(claim.signature.subarray(0, 32), bytes32(shifted)) },
    isLaxlyValid: false
  }))
}

// With such a key anyone signs: R = S·B fits every message whose hash is a multiple of the key's order.
function smallOrderKeys(): Dialect[] {
  return smallOrderEncodings.flatMap((key, index) => {
    const rightMessage = firstMessage(message => {
      const signature = concatBytes(r.toBytes(), bytes32(nonce))
      return laxly({ publicKey: key, message, signature })
    })
    const signature = concatBytes(r.toBytes(), bytes32(nonce))
    return rightMessage ? [dialect(`key ${index} of small order`, { publicKey: key, message: rightMessage, signature })] : []
  })
}

// S = k·a: the signature of somebody who owns the key but leaves out the nonce, valid for RFC 8032.
function smallOrderRs(): Dialect[] {
  return smallOrderEncodings.flatMap((encoded, index) => {
    const message = encodeUtf8('a challenge')
    const signature = concatBytes(encoded, bytes32((hashToScalar(encoded, publicKey.toBytes(), message) * secret) % groupOrder))
    return [dialect(`R ${index} of small order`, { publicKey: publicKey.toBytes(), message, signature })]
  })
}

// Valid when both sides are multiplied by the cofactor, as ZIP-215 does, and not otherwise.
function torsionedPoints(): Dialect[] {
  const torsion = Point.fromBytes(bytesOf('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'))
  const message = encodeUtf8('a challenge')
  const bentKey = publicKey.add(torsion).toBytes()
  const bentR = r.add(torsion).toBytes()
  const messageForKey = firstMessage(message => hashToScalar(r.toBytes(), bentKey, message) % 8n !== 0n) ?? message
  return [
    dialect('R with a torsion part', {
      publicKey: publicKey.toBytes(),
      message,
      signature: signedBy(publicKey.toBytes(), bentR, message, secret)
    }),
    dialect('key with a torsion part', {
      publicKey: bentKey,
      message: messageForKey,
      signature: signedBy(bentKey, r.toBytes(), messageForKey, secret)
    })
  ]
}

function encodingsAboveThePrime(): Dialect[] {
  const claim = honestClaim()
  const above = Array.from({ length: 19 }, (_, offset) => bytes32((1n << 255n) - 19n + BigInt(offset))).flatMap(y => [y, withTopBit(y)])
  return above.flatMap((encoded, index) => [
    dialect(`key ${index} above the prime`, { ...claim, publicKey: encoded }),
    dialect(`R ${index} above the prime`, { ...claim, signature: concatBytes(encoded, claim.signature.subarray(32)) })
  ])
}

function wrongLengths(): Dialect[] {
  const claim = honestClaim()
  const lengthsOf = (bytes: Uint8Array) => [0, 1, 31, 32, 33, 63, 64, 65, 128].filter(length => length !== bytes.length)
  const resized = (bytes: Uint8Array, length: number) => concatBytes(bytes, new Uint8Array(128)).slice(0, length)
  return [
    ...lengthsOf(claim.publicKey).map(length => ({
      name: `key of ${length} bytes`,
      claim: { ...claim, publicKey: resized(claim.publicKey, length) },
      isLaxlyValid: false
    })),
    ...lengthsOf(claim.signature).map(length => ({
      name: `signature of ${length} bytes`,
      claim: { ...claim, signature: resized(claim.signature, length) },
      isLaxlyValid: false
    }))
  ]
}

function wrongBits(): Dialect[] {
  const claim = honestClaim()
  const flipped = (bytes: Uint8Array, bit: number) => bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
  const every = (count: number, step: number) => Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step)
  return [
    ...every(512, 7).map(bit => dialect(`bit ${bit} of the signature`, { ...claim, signature: flipped(claim.signature, bit) })),
    ...every(256, 7).map(bit => dialect(`bit ${bit} of the key`, { ...claim, publicKey: flipped(claim.publicKey, bit) })),
    ...every(8 * claim.message.length, 7).map(bit =>
      dialect(`bit ${bit} of the message`, { ...claim, message: flipped(claim.message, bit) })
    )
  ]
}

function dialect(name: string, claim: Dialect['claim']): Dialect {
  return { name, claim, isLaxlyValid: laxly(claim) }
}

function laxly({ publicKey, message, signature }: Dialect['claim']): boolean {
  return ed25519.verify(signature, message, publicKey, { zip215: true })
}

function signedBy(key: Uint8Array, encodedR: Uint8Array, message: Uint8Array, scalar: bigint): Uint8Array {
  return concatBytes(encodedR, bytes32((nonce + hashToScalar(encodedR, key, message) * scalar) % groupOrder))
}

function hashToScalar(encodedR: Uint8Array, key: Uint8Array, message: Uint8Array): bigint {
  return littleEndian(sha512(concatBytes(encodedR, key, message))) % groupOrder
}

function firstMessage(fits: (message: Uint8Array) => boolean): Uint8Array | undefined {
  return Array.from({ length: 64 }, (_, index) => encodeUtf8(`challenge ${index}`)).find(fits)
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n)
}

function bytes32(number: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((number >> BigInt(8 * index)) & 255n))
}

function withTopBit(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => (index === 31 ? byte | 0x80 : byte))
}

function bytesOf(hex: string): Uint8Array {
  const bytes = fromHex(hex)
  if (!bytes) throw new TypeError(`not hexadecimal: ${hex}`)
  return bytes
}
