import fc from 'fast-check'
import t from 'tap'
import { fromHex, signing } from '../../lib/crypto/index.ts'
import { cryptoReady, signChallenge, signForServer, signingKeypair, verifyForServer, verifySignature } from '../../lib/crypto/sign.ts'
import { honestClaim, refusedDialects, smallOrderEncodings } from './dialects.ts'

await cryptoReady()

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
const message = fc.uint8Array({ maxLength: 200 })

t.test('an honest signature verifies [A2]', async t => {
  t.ok(verifySignature(honestClaim()))
  fc.assert(
    fc.property(seed, message, (accountSecret, challenge) =>
      verifySignature({ message: challenge, ...signChallenge(accountSecret, challenge) })
    ),
    { numRuns: 30 }
  )
})

t.test('the vectors of RFC 8032 verify, and signing reproduces them [A2]', async t => {
  for (const { secret, publicKey, text, signature } of rfc8032) {
    const signed = signChallenge(bytes(secret), bytes(text))
    t.same(signed, { publicKey: bytes(publicKey), signature: bytes(signature) })
    t.ok(verifySignature({ publicKey: bytes(publicKey), message: bytes(text), signature: bytes(signature) }))
  }
})

t.test('signing reproduces the Ed25519ph vector of RFC 8032', async t => {
  const { secretKey, publicKey } = signingKeypair(bytes('833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42'))
  const signature =
    '98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae4131f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406'
  t.same(signing.signPrehashed(bytes('616263'), secretKey), bytes(signature))
  t.ok(signing.verifyPrehashed(bytes(signature), bytes('616263'), publicKey))
})

t.test('keys or R values of small order, and S plus the group order, cannot sign in [A2]', async t => {
  const { secretKey, publicKey } = signingKeypair(new Uint8Array(32).fill(7))
  const part = new Uint8Array(32).fill(1)
  const said = { serverKeyId: part, origin: 'https://home.example', nonce: part, deviceKey: part, purpose: 'sign-in' as const }
  const signature = signForServer(secretKey, said)
  t.ok(verifyForServer({ publicKey, signature, said }))
  const lenient = signing.verifyPrehashed
  t.teardown(() => {
    signing.verifyPrehashed = lenient
  })
  signing.verifyPrehashed = () => true
  for (const point of smallOrderEncodings) {
    t.notOk(verifyForServer({ publicKey: point, signature, said }))
    t.notOk(verifyForServer({ publicKey, signature: Uint8Array.from([...point, ...signature.slice(32)]), said }))
  }
  t.notOk(verifyForServer({ publicKey, signature: Uint8Array.from([...signature.slice(0, 32), ...new Uint8Array(32).fill(0xff)]), said }))
})

t.test('a server is told its key, its origin, the nonce, the device and the purpose, in that order [A2]', async t => {
  const { secretKey, publicKey } = signingKeypair(new Uint8Array(32).fill(7))
  const [serverKeyId, nonce, deviceKey] = [1, 2, 3].map(byte => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array, Uint8Array]
  const said = { serverKeyId, origin: 'https://home.example', nonce, deviceKey, purpose: 'renew' as const }
  const expected = ['afield-auth-v2\0', serverKeyId, 'https://home.example', nonce, deviceKey, 'renew'].map(part => Buffer.from(part))
  t.ok(signing.verifyPrehashed(signForServer(secretKey, said), new Uint8Array(Buffer.concat(expected)), publicKey))
  for (const name of ['serverKeyId', 'nonce', 'deviceKey'])
    t.throws(() => signForServer(secretKey, { ...said, [name]: new Uint8Array(31) }), RangeError, name)
})

t.test('the largest S below the group order is sound, and the order itself is not [A2]', async t => {
  t.intercept(signing, 'verifyPrehashed', { value: () => true })
  const { secretKey, publicKey } = signingKeypair(new Uint8Array(32).fill(7))
  const part = new Uint8Array(32).fill(1)
  const said = { serverKeyId: part, origin: 'https://home.example', nonce: part, deviceKey: part, purpose: 'sign-in' as const }
  const r = signForServer(secretKey, said).slice(0, 32)
  const order = bytes('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')
  for (const [lowest, isSound] of [
    [0xec, true],
    [0xed, false],
    [0xee, false]
  ] as const) {
    const s = order.map((byte, at) => (at === 0 ? lowest : byte))
    t.equal(verifyForServer({ publicKey, signature: Uint8Array.from([...r, ...s]), said }), isSound)
  }
})

const dialects = refusedDialects()

t.test('every Ed25519 dialect except the strict one is rejected [A2]', async t => {
  const accepted = dialects.filter(({ claim }) => verifySignature(claim)).map(({ name }) => name)
  t.same(accepted, [])
})

t.test('the dialects are effective: a lax verifier accepts small-order keys and R values and torsioned points [A2]', async t => {
  const laxlyValid = dialects.filter(({ isLaxlyValid }) => isLaxlyValid).map(({ name }) => name)
  t.equal(laxlyValid.filter(name => /^key \d+ of small order/.test(name)).length, smallOrderEncodings.length)
  t.equal(laxlyValid.filter(name => /^R \d+ of small order/.test(name)).length, smallOrderEncodings.length)
  t.equal(laxlyValid.filter(name => name.endsWith('torsion part')).length, 2)
})

t.test('the engine rejects them too, without the block lists [A2]', async t => {
  const accepted = dialects
    .filter(({ claim }) => signing.verifyDetached(claim.signature, claim.message, claim.publicKey))
    .map(({ name }) => name)
  t.same(accepted, [])
})

t.test('length, block list and range checks reject them before any verifier runs [A2]', async t => {
  const strictly = signing.verifyDetached
  t.teardown(() => {
    signing.verifyDetached = strictly
  })
  signing.verifyDetached = () => true
  const listed = dialects.filter(({ name }) => /^S \+|small order|above the prime|bytes$/.test(name))
  t.same(
    listed.filter(({ claim }) => verifySignature(claim)).map(({ name }) => name),
    []
  )
  t.ok(verifySignature(honestClaim()))
})

t.test('the verifier never throws, whatever the bytes [A2]', async () => {
  const any = fc.uint8Array({ maxLength: 100 })
  const sized = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
  const claim = fc.record({ publicKey: fc.oneof(any, sized(32)), message: any, signature: fc.oneof(any, sized(64)) })
  fc.assert(fc.property(claim, claim => !verifySignature(claim)))
})

const rfc8032 = [
  {
    secret: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    text: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'
  },
  {
    secret: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    text: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00'
  }
]

function bytes(hex: string) {
  const decoded = fromHex(hex)
  if (!decoded) throw new TypeError(`not hexadecimal: ${hex}`)
  return decoded
}

t.test('checking a signature does not change its input [A2]', async t => {
  await cryptoReady()
  const { publicKey, signature } = signChallenge(new Uint8Array(32).fill(3), new Uint8Array(32))
  for (const wrap of [(bytes: Uint8Array) => bytes.slice(), (bytes: Uint8Array) => Buffer.from(bytes)]) {
    const given = { publicKey: wrap(publicKey), message: wrap(new Uint8Array(32)), signature: wrap(signature) }
    t.equal(verifySignature(given), true)
    t.equal(verifySignature(given), true, 'and once more over the same bytes')
  }
})
