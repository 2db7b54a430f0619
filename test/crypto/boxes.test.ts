import fc from 'fast-check'
import t from 'tap'
import { canReceiveBoxes, concatBytes, cryptoReady, engine, openBox, sealBox, unwrapDataKey, wrapDataKey } from '../../lib/crypto/index.ts'

await cryptoReady()

const { publicKey, secretKey } = engine.boxKeypair()

t.test('data sealed for a key opens only with its secret half', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      const bundle = sealBox(bytes, publicKey)
      const opened = openBox(bundle, secretKey)
      return (
        bundle.length === bytes.length + 72 &&
        opened !== undefined &&
        Buffer.compare(opened, bytes) === 0 &&
        openBox(bundle, engine.boxKeypair().secretKey) === undefined
      )
    }),
    { numRuns: 30 }
  )
})

t.test('flipping any bit of a bundle, or cutting it anywhere, makes it undecryptable', async t => {
  const bundle = sealBox(Uint8Array.of(1, 2, 3), publicKey)
  for (let bit = 0; bit < 8 * bundle.length; bit++) {
    const changed = bundle.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
    if (openBox(changed, secretKey)) t.fail(`opened with bit ${bit} changed`)
  }
  for (let length = 0; length < bundle.length; length++) {
    if (openBox(bundle.subarray(0, length), secretKey)) t.fail(`opened when cut to ${length} bytes`)
  }
})

t.test('a wrapped data key unwraps unchanged, and nothing else does', async t => {
  const dataKey = engine.randomBytes(32)
  const wrapped = wrapDataKey(dataKey, publicKey)
  t.equal(wrapped.length, 105)
  t.equal(wrapped[0], 0)
  t.same(unwrapDataKey(wrapped, secretKey), dataKey)

  const zero = Uint8Array.of(0)
  const notDataKeys = [
    new Uint8Array(0),
    wrapped.subarray(1),
    concatBytes(Uint8Array.of(1), wrapped.subarray(1)),
    concatBytes(zero, sealBox(new Uint8Array(31), publicKey)),
    concatBytes(zero, sealBox(new Uint8Array(33), publicKey))
  ]
  for (const bytes of notDataKeys) t.equal(unwrapDataKey(bytes, secretKey), undefined)
  t.throws(() => wrapDataKey(new Uint8Array(16), publicKey), RangeError)
  t.throws(() => openBox(wrapped.subarray(0, 20), new Uint8Array(31)), { message: /^recipientSecretKey has 31 bytes/ })
})

t.test('a key that cannot receive is detected before encryption', async t => {
  t.ok(canReceiveBoxes(publicKey))
  for (const wrong of [new Uint8Array(32), Uint8Array.of(1, ...new Uint8Array(31)), new Uint8Array(31), new Uint8Array(33)]) {
    t.notOk(canReceiveBoxes(wrong))
    t.throws(() => sealBox(Uint8Array.of(1), wrong))
  }
})
