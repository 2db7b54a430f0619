import fc from 'fast-check'
import t from 'tap'
import { decodePortably, encodePortably } from '../../lib/crypto/base64.ts'
import {
  concatBytes,
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  fromBase64,
  fromBase64Exact,
  fromHex,
  toBase64,
  toBase64Url,
  toHex
} from '../../lib/crypto/bytes.ts'

const bytes = fc.uint8Array({ maxLength: 200 })

t.test('base64 is written in the common form, and every form is read [N12]', async () => {
  fc.assert(
    fc.property(bytes, bytes => {
      const standard = Buffer.from(bytes).toString('base64')
      const url = Buffer.from(bytes).toString('base64url')
      const written = [standard, standard.replace(/=+$/, ''), url, url.padEnd(standard.length, '=')]
      return toBase64(bytes) === standard && toBase64Url(bytes) === url && written.every(text => equal(fromBase64(text), bytes))
    })
  )
})

t.test('where the platform has no base64 the same is written and read', async () => {
  fc.assert(
    fc.property(bytes, bytes => {
      const standard = Buffer.from(bytes).toString('base64')
      return encodePortably(bytes) === standard && equal(decodePortably(standard.replace(/=+$/, '')), bytes)
    })
  )
})

t.test('without padding at its end nothing is left over, and a stray bit or letter is rejected', async t => {
  t.equal(encodePortably(new Uint8Array(3)), 'AAAA')
  t.equal(encodePortably(Uint8Array.of(255)), '/w==')
  for (const body of ['AB', 'AAB', 'A=AA', 'AÀAA']) t.equal(decodePortably(body), undefined, body)
})

t.test('text that is not base64 is rejected, and each value has one encoding [N12]', async () => {
  const nearly = fc.string({ unit: fc.constantFrom(...'AQgz09+/-_=  \n\té.%'), maxLength: 12 })
  fc.assert(
    fc.property(nearly, text => {
      const read = fromBase64(text)
      if (!read) return true
      const standard = text.replaceAll('-', '+').replaceAll('_', '/')
      return [toBase64(read), toBase64(read).replace(/=+$/, '')].includes(standard)
    }),
    { numRuns: 2000 }
  )
})

t.test('bad base64, case by case [N12]', async t => {
  const refused = [
    'A',
    'AAAAA',
    'A=',
    'AA=',
    'AAA==',
    'AAAA=',
    'AAAA==',
    'AA===',
    '=',
    '==',
    '====',
    'AB==',
    'AB',
    'AAB=',
    'AAB',
    'AA==AA==',
    'AA A',
    'AAAA\n',
    ' AAAA',
    'AA%3D',
    'ÀAAA',
    'AAA\u{1F600}',
    'AAA\0'
  ]
  for (const text of refused) t.equal(fromBase64(text), undefined, JSON.stringify(text))
  t.same(fromBase64(''), new Uint8Array(0))
  t.same(fromBase64('+-/_'), fromBase64('++//'), 'the alphabets may be mixed')
})

t.test('the strict form accepts only standard base64 of the right length [N12, N15]', async t => {
  const key = Uint8Array.from({ length: 32 }, (_, index) => 255 - index)
  t.same(fromBase64Exact(toBase64(key), 32), key)
  const others = [
    toBase64Url(key),
    toBase64(key).replace('=', ''),
    toBase64(key.subarray(1)),
    `${toBase64(key)} `,
    toBase64(concatBytes(key, key)),
    'A'.repeat(44),
    ''
  ]
  for (const text of others) t.equal(fromBase64Exact(text, 32), undefined, JSON.stringify(text))
  for (const text of ['-AAA', '_AAA']) t.equal(fromBase64Exact(text, 3), undefined, text)
  t.equal(fromBase64Exact(toBase64(key).replaceAll('+', '-').replaceAll('/', '_'), 32), undefined)
})

t.test('a large body is decoded and encoded fast enough', async t => {
  const large = new Uint8Array(3_000_000).map((_, index) => index * 31)
  t.ok(equal(fromBase64(toBase64(large)), large))
})

t.test('hexadecimal of either case is accepted, lower case is written', async t => {
  fc.assert(fc.property(bytes, bytes => equal(fromHex(toHex(bytes)), bytes) && equal(fromHex(toHex(bytes).toUpperCase()), bytes)))
  for (const text of ['0', 'zz', '0x', ' 00', '00 ', '+1', '1e5']) t.equal(fromHex(text), undefined, text)
  t.equal(toHex(Uint8Array.of(0, 10, 255)), '000aff')
})

t.test('text survives UTF-8 including the byte order mark, and invalid bytes are rejected [N4]', async t => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => decodeUtf8(encodeUtf8(text)) === text))
  t.equal(decodeUtf8(encodeUtf8('\uFEFFa')), '\uFEFFa')
  const refused = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x61, 0x80]]
  for (const wrong of refused) t.equal(decodeUtf8(Uint8Array.from(wrong)), undefined, wrong.join())
})

t.test('bytes are joined and compared in full', async () => {
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const joined = concatBytes(one, other)
      return (
        equalBytes(joined.subarray(0, one.length), one) &&
        equalBytes(joined.subarray(one.length), other) &&
        equalBytes(one, other) === equal(one, other)
      )
    })
  )
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(), (bytes, at) => {
      const changed = bytes.map((byte, index) => (index === at % bytes.length ? byte ^ 1 : byte))
      return equalBytes(bytes, bytes.slice()) && !equalBytes(bytes, changed) && !equalBytes(bytes, bytes.subarray(1))
    })
  )
})

function equal(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one !== undefined && Buffer.compare(one, other) === 0
}
