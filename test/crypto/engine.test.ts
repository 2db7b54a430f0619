import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import type { Engine, Signing } from '../../lib/crypto/engine.ts'
import * as nobleEngine from '../../lib/crypto/engine-noble.ts'
import * as sodiumEngine from '../../lib/crypto/engine-sodium.ts'
import { concatBytes, fromHex } from '../../lib/crypto/index.ts'
import * as nobleSigning from '../../lib/crypto/signing-noble.ts'
import { honestClaim, refusedDialects } from './dialects.ts'

await sodiumEngine.ready

const noble = { ...nobleEngine.engine, ...nobleSigning.signing }
const sodium = { ...sodiumEngine.engine, ...sodiumEngine.signing }

const sized = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const message = fc.uint8Array({ maxLength: 300 })
const few = { numRuns: 40 }

t.test('both engines give the same bytes for the same input', async () => {
  fc.assert(
    fc.property(message, sized(24), sized(32), sized(32), (message, nonce, one, other) => {
      const both = [sodium, noble].map(engine => {
        const signing = engine.signSeedKeypair(one)
        const mine = engine.boxSeedKeypair(one)
        const theirs = engine.boxPublicKey(other)
        return JSON.stringify([
          [engine.sha256(message), engine.sha512(message)],
          [signing, engine.signDetached(message, signing.secretKey), engine.signPrehashed(message, signing.secretKey)],
          [mine, theirs, engine.boxEasy(message, nonce, theirs, mine.secretKey)],
          engine.secretboxEasy(message, nonce, one),
          engine.gcmSeal(message, nonce.subarray(12), one)
        ])
      })
      return both[0] === both[1]
    }),
    few
  )
})

t.test('each engine decrypts what the other encrypted', async () => {
  fc.assert(
    fc.property(message, sized(24), sized(32), (message, nonce, key) => {
      return [
        [sodium, noble],
        [noble, sodium]
      ].every(([sealer = sodium, opener = noble]) => {
        const mine = sealer.boxKeypair()
        const theirs = opener.boxKeypair()
        const boxed = sealer.boxEasy(message, nonce, theirs.publicKey, mine.secretKey)
        return (
          same(opener.boxOpenEasy(boxed, nonce, mine.publicKey, theirs.secretKey), message) &&
          same(opener.secretboxOpenEasy(sealer.secretboxEasy(message, nonce, key), nonce, key), message) &&
          same(opener.gcmOpen(sealer.gcmSeal(message, nonce.subarray(12), key), nonce.subarray(12), key), message)
        )
      })
    }),
    few
  )
})

t.test('both engines agree on every signature, torsioned keys included', async t => {
  const claims = [honestClaim(), ...refusedDialects().map(({ claim }) => claim)]
  const verdicts = (engine: Signing) =>
    claims.map(({ signature, message, publicKey }) => engine.verifyDetached(signature, message, publicKey))
  t.same(verdicts(noble), verdicts(sodium))
  t.equal(verdicts(sodium).filter(Boolean).length, 1)
})

t.test('a prehashed signature verifies in both engines, is not a plain one, and no altered one verifies', async () => {
  fc.assert(
    fc.property(message, sized(32), fc.nat(63), (message, seed, at) => {
      const { publicKey, secretKey } = sodium.signSeedKeypair(seed)
      const signature = sodium.signPrehashed(message, secretKey)
      const changed = signature.map((byte, index) => (index === at ? byte ^ 1 : byte))
      return [sodium, noble].every(
        engine =>
          engine.verifyPrehashed(signature, message, publicKey) &&
          !engine.verifyDetached(signature, message, publicKey) &&
          !engine.verifyPrehashed(engine.signDetached(message, secretKey), message, publicKey) &&
          !engine.verifyPrehashed(changed, message, publicKey)
      )
    }),
    few
  )
})

t.test("the hashes match Node's", async () => {
  const matches = (engine: Engine, message: Uint8Array) =>
    same(engine.sha256(message), createHash('sha256').update(message).digest()) &&
    same(engine.sha512(message), createHash('sha512').update(message).digest())
  fc.assert(
    fc.property(message, message => matches(sodium, message) && matches(noble, message)),
    few
  )
})

for (const [name, engine] of Object.entries({ sodium, noble })) {
  const nonce = new Uint8Array(24)
  const key = new Uint8Array(32).fill(7)
  const { publicKey, secretKey } = engine.boxKeypair()

  t.test(`${name}: a key, seed or nonce of the wrong length is a RangeError, never a verdict`, async t => {
    const short = new Uint8Array(31)
    const text = new Uint8Array(40)
    const iv = nonce.subarray(12)
    const calls: [wrong: string, call: () => unknown][] = [
      ['seed', () => engine.signSeedKeypair(short)],
      ['secretKey', () => engine.signDetached(text, key)],
      ['secretKey', () => engine.signPrehashed(text, key)],
      ['seed', () => engine.boxSeedKeypair(short)],
      ['secretKey', () => engine.boxPublicKey(short)],
      ['nonce', () => engine.boxEasy(text, short, publicKey, secretKey)],
      ['theirPublicKey', () => engine.boxEasy(text, nonce, short, secretKey)],
      ['mySecretKey', () => engine.boxEasy(text, nonce, publicKey, short)],
      ['nonce', () => engine.boxOpenEasy(text, short, publicKey, secretKey)],
      ['theirPublicKey', () => engine.boxOpenEasy(text, nonce, short, secretKey)],
      ['mySecretKey', () => engine.boxOpenEasy(text, nonce, publicKey, short)],
      ['nonce', () => engine.secretboxEasy(text, short, key)],
      ['key', () => engine.secretboxEasy(text, nonce, short)],
      ['nonce', () => engine.secretboxOpenEasy(text, short, key)],
      ['key', () => engine.secretboxOpenEasy(text, nonce, short)],
      ['nonce', () => engine.gcmSeal(text, nonce, key)],
      ['key', () => engine.gcmSeal(text, iv, short)],
      ['nonce', () => engine.gcmOpen(text, nonce, key)],
      ['key', () => engine.gcmOpen(text, iv, short)]
    ]
    for (const [wrong, call] of calls) t.throws(call, { name: 'RangeError', message: new RegExp(`^${wrong} has`) }, String(call))
  })

  t.test(`${name}: a signature or key of the wrong length signs nothing`, async t => {
    const own = engine.signSeedKeypair(key)
    const text = Uint8Array.of(1, 2, 3)
    for (const [sign, verify] of [
      [engine.signDetached, engine.verifyDetached],
      [engine.signPrehashed, engine.verifyPrehashed]
    ] as const) {
      const signature = sign(text, own.secretKey)
      t.equal(verify(signature, text, own.publicKey), true)
      t.equal(verify(signature.subarray(1), text, own.publicKey), false)
      t.equal(verify(signature, text, own.publicKey.subarray(1)), false)
    }
  })

  t.test(`${name}: sealed bytes that are too short or changed do not open`, async t => {
    const boxed = engine.boxEasy(key, nonce, publicKey, secretKey)
    const locked = engine.secretboxEasy(key, nonce, key)
    for (let length = 0; length < boxed.length; length++) {
      if (engine.boxOpenEasy(boxed.subarray(0, length), nonce, publicKey, secretKey)) t.fail(`a box of ${length} bytes`)
      if (engine.secretboxOpenEasy(locked.subarray(0, length), nonce, key)) t.fail(`a secretbox of ${length} bytes`)
    }
    for (let changed = 0; changed < boxed.length; changed++) {
      const flip = (byte: number, index: number) => (index === changed ? byte ^ 0x10 : byte)
      if (engine.boxOpenEasy(boxed.map(flip), nonce, publicKey, secretKey)) t.fail(`box changed at ${changed}`)
      if (engine.secretboxOpenEasy(locked.map(flip), nonce, key)) t.fail(`secretbox changed at ${changed}`)
    }
    t.same(engine.boxOpenEasy(boxed, nonce, publicKey, secretKey), key)
    t.same(engine.secretboxOpenEasy(locked, nonce, key), key)
  })

  t.test(`${name}: a key of small order shares no secret`, async t => {
    for (const point of smallOrderX25519()) {
      t.throws(() => engine.boxEasy(key, nonce, point, secretKey))
      t.equal(engine.boxOpenEasy(new Uint8Array(48), nonce, point, secretKey), undefined)
    }
  })

  t.test(`${name}: random bytes have the requested length and differ`, async t => {
    t.equal(engine.randomBytes(0).length, 0)
    t.equal(engine.randomBytes(32).length, 32)
    t.notSame(engine.randomBytes(32), engine.randomBytes(32))
    t.notSame(engine.boxKeypair(), engine.boxKeypair())
  })

  t.test(`${name}: results own their memory, and later calls do not change them`, async t => {
    const results = [
      engine.randomBytes(32),
      publicKey,
      engine.secretboxEasy(key, nonce, key),
      engine.boxEasy(key, nonce, publicKey, secretKey)
    ]
    const before = results.map(result => concatBytes(result))
    for (let round = 0; round < 100; round++) engine.boxEasy(engine.randomBytes(1000), nonce, publicKey, secretKey)
    t.same(results, before)
    for (const result of results) t.equal(result.buffer.byteLength, result.length)
  })
}

function same(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && Buffer.compare(one, other) === 0
}

function smallOrderX25519(): Uint8Array[] {
  return [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'
  ].map(hex => fromHex(hex) ?? new Uint8Array(0))
}
