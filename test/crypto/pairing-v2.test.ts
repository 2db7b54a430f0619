import { createHash } from 'node:crypto'
import t from 'tap'
import { cryptoReady, engine, openAnswer, sealAnswerV1, sealAnswerV2 } from '../../lib/crypto/index.ts'
import {
  approvalBytes,
  checkCode,
  keyPrint,
  linkSecretLength,
  lockAnswer,
  openAbout,
  openLockedAnswer,
  openToken,
  sealAbout,
  sealToken
} from '../../lib/crypto/pairing-v2.ts'

await cryptoReady()

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const bytesOf = (length: number, first: number) => Uint8Array.from({ length }, (_, at) => (first + at) & 0xff)
const asker = { publicKey: bytesOf(32, 1), deviceKey: bytesOf(32, 101) }
const linkSecret = bytesOf(16, 201)

t.test('a link names a key by the first half of its hash', async t => {
  t.same(keyPrint(asker.publicKey), new Uint8Array(sha256('afield-pair-key\0', asker.publicKey).subarray(0, 16)))
})

t.test('the check code is four digits, of both keys and the secret of the link', async t => {
  const codeOf = (secret: Uint8Array) => {
    const number = sha256('afield-pair-code\0', asker.publicKey, asker.deviceKey, secret).readUInt32BE() % 10_000
    return String(number).padStart(4, '0')
  }
  t.equal(checkCode(asker, linkSecret), codeOf(linkSecret))
  const secrets = Array.from({ length: 200 }, (_, at) => bytesOf(16, at))
  const codes = secrets.map(secret => checkCode(asker, secret))
  t.same(codes, secrets.map(codeOf))
  t.ok(codes.every(code => /^\d{4}$/.test(code)))
  t.ok(
    codes.some(code => code.startsWith('0')),
    'also those of a small number'
  )
  t.not(checkCode({ ...asker, deviceKey: asker.publicKey }, linkSecret), checkCode(asker, linkSecret))
  t.equal(linkSecretLength, 16)
  for (const length of [0, 15, 17]) t.throws(() => checkCode(asker, new Uint8Array(length)), RangeError)
})

t.test('a locked answer opens only with the secret of the link and the key of the asker', async t => {
  const { publicKey, secretKey } = engine.boxKeypair()
  const account = engine.randomBytes(32)
  for (const answer of [sealAnswerV1(account, publicKey), sealAnswerV2(account, publicKey)]) {
    const locked = lockAnswer(answer, linkSecret)
    t.equal(locked.length, 24 + 16 + answer.length)
    t.same(openLockedAnswer(locked, linkSecret, secretKey), openAnswer(answer, secretKey))
    t.equal(openLockedAnswer(locked, bytesOf(16, 202), secretKey), undefined)
    t.equal(openLockedAnswer(locked, linkSecret, engine.boxKeypair().secretKey), undefined)
    for (const length of [0, 23, 24, 25, locked.length - 1])
      t.equal(openLockedAnswer(locked.subarray(0, length), linkSecret, secretKey), undefined)
    t.equal(openAbout(locked, linkSecret), undefined, 'nor is it a description')
  }
  const nonce = bytesOf(24, 9)
  const fixed = lockAnswer(bytesOf(5, 50), linkSecret, () => nonce)
  t.same(fixed.subarray(0, 24), nonce)
  t.same(engine.secretboxOpenEasy(fixed.subarray(24), nonce, new Uint8Array(sha256('afield-pair-lock\0', linkSecret))), bytesOf(5, 50))
})

t.test('a description of the asker opens only with the secret of the link', async t => {
  const about = bytesOf(40, 7)
  const sealed = sealAbout(about, linkSecret)
  t.same(openAbout(sealed, linkSecret), about)
  t.equal(openAbout(sealed, bytesOf(16, 202)), undefined)
  for (const length of [0, 23, 24, 25, sealed.length - 1]) t.equal(openAbout(sealed.subarray(0, length), linkSecret), undefined)
  t.throws(() => openAbout(sealed, bytesOf(15, 1)), RangeError)
  const nonce = bytesOf(24, 9)
  const fixed = sealAbout(about, linkSecret, () => nonce)
  t.same(fixed.subarray(0, 24), nonce)
  t.same(engine.secretboxOpenEasy(fixed.subarray(24), nonce, new Uint8Array(sha256('afield-pair-about\0', linkSecret))), about)
})

t.test('a token opens only for its asker', async t => {
  const { publicKey, secretKey } = engine.boxKeypair()
  const sealed = sealToken('tökén', publicKey)
  t.equal(openToken(sealed, secretKey), 'tökén')
  t.equal(openToken(sealed, engine.boxKeypair().secretKey), undefined)
  t.equal(openToken(sealed.subarray(1), secretKey), undefined)
})

t.test('what is signed names the asker, the answer, the request and the server, in that order', async t => {
  const approval = { id: 'request-1', asker, response: bytesOf(70, 3), origin: 'https://home.example' }
  const expected = Buffer.concat([
    Buffer.from('afield-pair-v2\0'),
    asker.publicKey,
    asker.deviceKey,
    sha256(approval.response),
    Buffer.from('request-1\0https://home.example')
  ])
  t.same(approvalBytes(approval), new Uint8Array(expected))
  for (const name of ['publicKey', 'deviceKey'] as const)
    t.throws(() => approvalBytes({ ...approval, asker: { ...asker, [name]: bytesOf(31, 1) } }), RangeError, name)
})
