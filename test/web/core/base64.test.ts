import t from 'tap'
import { base64Of, bytesOf } from '../../../web/core/base64.ts'

t.test('bytes are written as standard base64 and read back', async t => {
  const all = Uint8Array.from({ length: 256 }, (_, index) => index)
  for (const bytes of [new Uint8Array(), new Uint8Array([0]), new Uint8Array([251, 255, 254]), all]) {
    t.equal(base64Of(bytes), Buffer.from(bytes).toString('base64'))
    t.same(bytesOf(base64Of(bytes)), bytes)
  }
})
