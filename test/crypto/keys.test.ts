import t from 'tap'
import {
  analyticsId,
  contentSecretKey,
  cryptoReady,
  deriveContentKeypair,
  deriveKey,
  engine,
  legacyBlobKey,
  sessionBlobKey,
  signInKeypair,
  toHex
} from '../../lib/crypto/index.ts'

await cryptoReady()

const secret = engine.randomBytes(32)

t.test('every usage and every path has its own key', async t => {
  const keys = [
    deriveKey(secret, 'a', []),
    deriveKey(secret, 'b', []),
    deriveKey(secret, 'a', ['x']),
    deriveKey(secret, 'a', ['y']),
    deriveKey(secret, 'a', ['x', 'y']),
    deriveKey(secret, 'a', ['xy']),
    deriveContentKeypair(secret).secretKey,
    legacyBlobKey(secret),
    sessionBlobKey(secret)
  ]
  t.equal(new Set(keys.map(toHex)).size, keys.length)
  t.same(deriveKey(secret, 'a', ['x', 'y']), deriveKey(secret, 'a', ['x', 'y']))
})

t.test('the secret half of the content key is the same with and without the public one', async t => {
  for (const each of [secret, engine.randomBytes(32), new Uint8Array(32)])
    t.same(contentSecretKey(each), deriveContentKeypair(each).secretKey)
})

t.test('a secret of the wrong length is rejected', async t => {
  for (const length of [0, 31, 33, 64]) {
    const wrong = new Uint8Array(length)
    for (const derive of [contentSecretKey, deriveContentKeypair, signInKeypair, legacyBlobKey, sessionBlobKey, analyticsId]) {
      t.throws(() => derive(wrong), RangeError, `${derive.name} of ${length} bytes`)
    }
  }
})
