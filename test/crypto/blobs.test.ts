import fc from 'fast-check'
import t from 'tap'
import { cryptoReady, engine, openBlob, sealBlob, sealOfBlob } from '../../lib/crypto/index.ts'

await cryptoReady()

const key = engine.randomBytes(32)

t.test('an attachment decrypts byte for byte, only with its key', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), bytes => {
      const stored = sealBlob(bytes, key)
      const opened = openBlob(stored, key)
      return (
        stored.length === bytes.length + 40 &&
        opened !== undefined &&
        Buffer.compare(opened, bytes) === 0 &&
        openBlob(stored, engine.randomBytes(32)) === undefined
      )
    })
  )
})

t.test('a changed or cut attachment does not open', async t => {
  const stored = sealBlob(Uint8Array.of(1, 2, 3), key)
  for (let at = 0; at < stored.length; at++) {
    if (openBlob(stored.subarray(0, at), key)) t.fail(`opened when cut to ${at} bytes`)
    const changed = stored.map((byte, index) => (index === at ? byte ^ 0x40 : byte))
    if (openBlob(changed, key)) t.fail(`opened with byte ${at} changed`)
  }
})

t.test('a message names an attachment by its nonce', async t => {
  const nonce = Uint8Array.from({ length: 24 }, (_, at) => at)
  t.equal(sealOfBlob(sealBlob(Uint8Array.of(1, 2, 3), key, () => nonce)), Buffer.from(nonce).toString('base64'))
})
