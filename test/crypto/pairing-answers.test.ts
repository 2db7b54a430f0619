import t from 'tap'
import { cryptoReady, engine, openAnswer, sealAnswerV1, sealAnswerV2, sealBox } from '../../lib/crypto/index.ts'

await cryptoReady()

const { publicKey, secretKey } = engine.boxKeypair()
const secret = engine.randomBytes(32)

t.test('the two answers are distinguished by their sealed content', async t => {
  t.same(openAnswer(sealAnswerV1(secret, publicKey), secretKey), { version: 1, accountSecret: secret })
  t.same(openAnswer(sealAnswerV2(secret, publicKey), secretKey), { version: 2, contentPublicKey: secret })
})

t.test('anything else is not an answer', async t => {
  const odd = [0, 31, 33, 34, 64].map(length => sealBox(new Uint8Array(length).fill(1), publicKey))
  const foreign = sealAnswerV1(secret, engine.boxKeypair().publicKey)
  for (const answer of [...odd, sealBox(new Uint8Array(34), publicKey), foreign, new Uint8Array(0), new Uint8Array(104)]) {
    t.equal(openAnswer(answer, secretKey), undefined)
  }
})

t.test('an answer that could not be parsed is never created', async t => {
  t.throws(() => sealAnswerV1(new Uint8Array(33), publicKey), RangeError)
  t.throws(() => sealAnswerV2(new Uint8Array(31), publicKey), RangeError)
})
