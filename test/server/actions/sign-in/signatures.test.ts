import { hash, randomBytes } from 'node:crypto'
import t from 'tap'
import { cryptoReady, signApproval, signChallenge, signForServer, signInKeypair, signingKeypair } from '../../../../lib/crypto/sign.ts'
import { failure } from '../../../../lib/protocol/wire/failures.ts'
import { identityKeyOf, readApproval, readChallengeClaim, readServerClaim } from '../../../../lib/server/actions/sign-in/signatures.ts'

await cryptoReady()
const secret = new Uint8Array(32).fill(1)
const { publicKey, secretKey } = signInKeypair(secret)
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const bad = failure('bad-signature')

t.test('a signature over a challenge of 16 to 64 bytes proves its key [A2]', async t => {
  const claimOf = (challenge: Uint8Array) => ({
    ...{ publicKey: base64(publicKey), challenge: base64(challenge), signature: base64(signChallenge(secret, challenge).signature) }
  })
  for (const length of [16, 64]) {
    const challenge = randomBytes(length)
    const read = readChallengeClaim(claimOf(challenge))
    t.same(read.publicKey, Buffer.from(publicKey))
    t.same(Buffer.from(read.challenge), challenge)
  }
  for (const length of [0, 15, 65]) t.throws(() => readChallengeClaim(claimOf(randomBytes(length))), bad, `${length}`)
  const good = claimOf(randomBytes(32))
  const others = {
    publicKey: base64(signingKeypair(new Uint8Array(32)).publicKey),
    challenge: base64(randomBytes(32)),
    signature: base64(randomBytes(64))
  }
  for (const part of ['publicKey', 'challenge', 'signature'] as const) {
    t.throws(() => readChallengeClaim({ ...good, [part]: others[part] }), bad, part)
    t.throws(() => readChallengeClaim({ ...good, [part]: 'no base64!' }), bad, part)
  }
})

const serverKeyId = randomBytes(32)
const nonce = randomBytes(32)
const device = signingKeypair(new Uint8Array(32).fill(2))
const origin = 'https://home.example'

t.test('a signature for this server proves its key, for that device, nonce, origin and purpose alone [A2]', async t => {
  const said = { serverKeyId, origin, nonce, deviceKey: device.publicKey, purpose: 'sign-in' as const }
  const claim = {
    ...{ publicKey: base64(publicKey), deviceKey: base64(device.publicKey), nonce: base64(nonce), origin },
    signature: base64(signForServer(secretKey, said))
  }
  const read = readServerClaim(claim, serverKeyId, 'sign-in')
  t.same(read, {
    ...{ publicKey: Buffer.from(publicKey), deviceKey: base64(device.publicKey), nonce },
    nonceHash: hash('sha256', nonce, 'base64url')
  })
  t.throws(() => readServerClaim(claim, randomBytes(32), 'sign-in'), bad, 'of another server')
  t.throws(() => readServerClaim(claim, serverKeyId, 'renew'), bad, 'for another purpose')
  t.throws(() => readServerClaim({ ...claim, origin: 'https://other.example' }, serverKeyId, 'sign-in'), bad)
  for (const part of ['publicKey', 'deviceKey', 'nonce', 'signature'] as const)
    for (const other of [randomBytes(32), randomBytes(31), randomBytes(33), randomBytes(64)].map(base64).concat('no base64!', ''))
      t.throws(() => readServerClaim({ ...claim, [part]: other }, serverKeyId, 'sign-in'), bad, `${part} ${other}`)
})

t.test('an approval is the answer that the account signed, in its canonical form [A6]', async t => {
  const asker = { publicKey: randomBytes(32), deviceKey: device.publicKey }
  const response = randomBytes(32)
  const given = {
    ...{ id: 'pairing', origin, publicKey: base64(asker.publicKey), deviceKey: base64(asker.deviceKey) },
    ...{ response: response.toString('base64url'), accountKey: Buffer.from(publicKey).toString('hex').toUpperCase() },
    signature: base64(signApproval(secretKey, { id: 'pairing', asker, response, origin }))
  }
  t.equal(readApproval(given), response.toString('base64'))
  const changed: Partial<typeof given>[] = [
    { id: 'another' },
    { origin: 'https://other.example' },
    { publicKey: base64(randomBytes(32)) },
    { deviceKey: base64(randomBytes(32)) },
    { deviceKey: base64(randomBytes(31)) },
    { response: base64(randomBytes(32)) },
    { response: '!' },
    { signature: base64(randomBytes(64)) },
    { signature: '!' },
    { accountKey: Buffer.from(device.publicKey).toString('hex') }
  ]
  for (const change of changed) t.throws(() => readApproval({ ...given, ...change }), bad, JSON.stringify(change))
})

t.test('the public identity of a server follows from its secret', async t => {
  t.same(identityKeyOf(secret), publicKey)
})
