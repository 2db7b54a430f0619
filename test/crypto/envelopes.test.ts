import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import {
  type Cipher,
  cryptoReady,
  dataKeyCipher,
  encodeUtf8,
  engine,
  fromBase64,
  legacyCipher,
  type Opened,
  openLegacy,
  openWithDataKey,
  sealLegacy,
  sealWithDataKey,
  toBase64
} from '../../lib/crypto/index.ts'

await cryptoReady()

const key = engine.randomBytes(32)
const anotherKey = engine.randomBytes(32)
const ciphers: Record<string, (key: Uint8Array) => Cipher> = { legacyCipher, dataKeyCipher }
const formats: Record<string, { seal: typeof sealLegacy; open: (key: Uint8Array, sealed: Uint8Array) => Opened; overhead: number }> = {
  legacy: { seal: sealLegacy, open: openLegacy, overhead: 24 + 16 },
  'data-key': { seal: sealWithDataKey, open: openWithDataKey, overhead: 1 + 12 + 16 }
}

for (const [name, cipherOf] of Object.entries(ciphers)) {
  t.test(`${name}: every JSON value round-trips unchanged`, async () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const opened = cipherOf(key).open(cipherOf(key).seal(value))
        return opened.ok && JSON.stringify(opened.value) === JSON.stringify(value)
      })
    )
  })

  t.test(`${name}: undefined is encrypted as an empty plaintext and decrypts to null`, async t => {
    t.same(cipherOf(key).open(cipherOf(key).seal(undefined)), { ok: true, value: null })
    t.same(cipherOf(key).open(cipherOf(key).seal(null)), { ok: true, value: null })
  })

  t.test(`${name}: no other key decrypts it`, async t => {
    t.same(cipherOf(anotherKey).open(cipherOf(key).seal('secret')), { ok: false })
  })

  t.test(`${name}: decryption never throws, whatever the text`, async t => {
    const cipher = cipherOf(key)
    const sealed = cipher.seal({ a: 1 })
    const texts = [
      '',
      'A',
      '!',
      '=',
      'AAAA',
      toBase64(new Uint8Array(29)),
      `${sealed} `,
      sealed.slice(1),
      sealed + sealed,
      '\u{1F600}',
      'A'.repeat(100_001)
    ]
    for (const text of texts) t.same(cipher.open(text), { ok: false }, text.slice(0, 40))
    fc.assert(fc.property(fc.oneof(fc.string(), fc.base64String({ maxLength: 400 })), text => !cipher.open(text).ok))
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), bytes => !cipher.open(toBase64(bytes)).ok))
  })

  t.test(`${name}: the same text is never encrypted twice the same way`, async t => {
    const seals = Array.from({ length: 50 }, () => cipherOf(key).seal('same'))
    t.equal(new Set(seals).size, 50)
  })

  t.test(`${name}: a key of the wrong length is rejected before it is used`, async t => {
    for (const length of [0, 16, 24, 31, 33, 64]) t.throws(() => cipherOf(new Uint8Array(length)), RangeError, `${length} bytes`)
  })

  t.test(`${name}: both base64 alphabets are accepted, as clients differ`, async t => {
    const cipher = cipherOf(key)
    const sealed = cipher.seal({ text: 'x'.repeat(200) })
    const bytes = fromBase64(sealed) ?? new Uint8Array(0)
    t.same(cipher.open(Buffer.from(bytes).toString('base64url')), cipher.open(sealed))
  })
}

for (const [name, { seal, open, overhead }] of Object.entries(formats)) {
  t.test(`${name} envelope: flipping any bit, or cutting it anywhere, makes it undecryptable`, async t => {
    const sealed = seal(key, { role: 'user', text: 'hello' })
    t.ok(open(key, sealed).ok)
    for (let bit = 0; bit < 8 * sealed.length; bit++) {
      const changed = sealed.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
      if (open(key, changed).ok) t.fail(`opened with bit ${bit} changed`)
    }
    for (let length = 0; length < sealed.length; length++) {
      if (open(key, sealed.subarray(0, length)).ok) t.fail(`opened when cut to ${length} bytes`)
    }
  })

  t.test(`${name} envelope: its length is the length of the JSON plus ${overhead}`, async () => {
    fc.assert(fc.property(fc.jsonValue(), value => seal(key, value).length === encodeUtf8(JSON.stringify(value)).length + overhead))
  })
}

t.test('encrypted text that is not JSON, or not UTF-8, is rejected', async t => {
  const nonce = engine.randomBytes(24)
  for (const plaintext of [encodeUtf8('{'), encodeUtf8('undefined'), Uint8Array.of(0xff), encodeUtf8('\uFEFF1')]) {
    const sealed = new Uint8Array([...nonce, ...engine.secretboxEasy(plaintext, nonce, key)])
    t.same(openLegacy(key, sealed), { ok: false })
  }
})

t.test('a data-key envelope of a future version is rejected', async t => {
  const sealed = sealWithDataKey(key, 1)
  sealed[0] = 1
  t.same(openWithDataKey(key, sealed), { ok: false })
})

t.test('in parallel, a data key decrypts what it decrypts in the same thread, and nothing else', async t => {
  const cipher = dataKeyCipher(key)
  const aside = async (sealed: string) => cipher.openAside?.(sealed)
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async value => {
      const sealed = cipher.seal(value)
      return isDeepStrictEqual(await aside(sealed), cipher.open(sealed))
    }),
    { numRuns: 50 }
  )
  t.same(await aside(cipher.seal(undefined)), { ok: true, value: null })
  const sealed = sealWithDataKey(key, { role: 'user' })
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.map((byte, index) => (index === at ? byte ^ 1 : byte))
    t.same(await aside(toBase64(changed)), { ok: false }, `byte ${at} changed`)
  }
  for (const text of ['', 'A', '!', toBase64(new Uint8Array(29)), dataKeyCipher(anotherKey).seal(1), legacyCipher(key).seal(1)])
    t.same(await aside(text), { ok: false }, text.slice(0, 40))
})
