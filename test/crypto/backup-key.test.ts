import fc from 'fast-check'
import t from 'tap'
import { formatBackupKey, fromHex, readBackupKey, toBase64, toBase64Url } from '../../lib/crypto/index.ts'

const secret = fromHex('0d141b222930373e454c535a61686f767d848b9299a0a7aeb5bcc3cad1d8dfe6') ?? new Uint8Array(0)
const written = 'BUKBW-IRJGA-3T4RK-MKNNG-C2DPO-Z6YJC-4STGQ-KPLVV-XTB4V-UOY37-TA'
const read = { ok: true, secret }

t.test('a key is accepted in every way of typing it', async t => {
  const typed = [
    written,
    written.toLowerCase(),
    written.replaceAll('-', ' '),
    written.replaceAll('-', ''),
    written.replaceAll('-', '').toLowerCase(),
    written.replaceAll('-', ' – '),
    written.replaceAll('-', '\n'),
    written.replaceAll('O', '0').replaceAll('I', '1').replaceAll('B', '8').replaceAll('G', '9'),
    ` "${written}". `,
    toBase64Url(secret),
    toBase64(secret),
    `  ${toBase64Url(secret)}\n`
  ]
  for (const text of typed) t.same(readBackupKey(text), read, text)
})

t.test('a key is written down in ten groups of five letters and one of two', async t => {
  t.equal(formatBackupKey(secret), written)
})

t.test('every secret survives being written down and typed in', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), secret => {
      const key = formatBackupKey(secret)
      return [key, key.toLowerCase(), key.replaceAll('-', ''), toBase64Url(secret)].every(text => {
        const reading = readBackupKey(text)
        return reading.ok && Buffer.compare(reading.secret, secret) === 0
      })
    }),
    { numRuns: 500 }
  )
})

t.test('an invalid letter in a key is reported with its group', async t => {
  const impossible = (group: number) => ({ ok: false, problem: 'impossible-letter', group })
  t.same(readBackupKey(written.replace('IRJGA', 'IRJGÄ')), impossible(2))
  t.same(readBackupKey(written.replace('4STGQ', 'ß4STG')), impossible(7))
  t.same(readBackupKey(written.replaceAll('-', '').replace('4STGQ', '4STGé')), impossible(7), 'counted when nobody typed groups')
  t.same(readBackupKey(written.replace('TA', 'TB')), impossible(11), 'the last letter carries one bit, so most letters are slips')
  t.same(readBackupKey(written.replace('BUKBW', '日本語')), impossible(1))
})

t.test('a key of the wrong length is rejected, with the group that has too few or too many letters', async t => {
  t.same(readBackupKey(written.replace('4STGQ', '4STG')), { ok: false, problem: 'wrong-length', letters: 51, group: 7 })
  t.same(readBackupKey(written.replace('4STGQ', '4STGQQ')), { ok: false, problem: 'wrong-length', letters: 53, group: 7 })
  t.same(readBackupKey(written.slice(0, 30)), { ok: false, problem: 'wrong-length', letters: 25 })
  t.same(readBackupKey(`${written}-AAAAA`), { ok: false, problem: 'wrong-length', letters: 57, group: 12 })
  t.same(readBackupKey(written.replaceAll('-', '').slice(1)), { ok: false, problem: 'wrong-length', letters: 51 })
  t.same(readBackupKey(''), { ok: false, problem: 'wrong-length', letters: 0 })
})

t.test('a key cut to the length of the other form is rejected', async t => {
  const key = formatBackupKey(new Uint8Array(32))
  const bare = key.replaceAll('-', '')
  for (const text of [key, bare, bare.toLowerCase()]) {
    for (const length of [43, 44]) t.equal(readBackupKey(text.slice(0, length)).ok, false, text.slice(0, length))
  }
})

t.test('parsing never throws, whatever the text', async t => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 80 }), text => !readBackupKey(text).ok))
  t.throws(() => formatBackupKey(new Uint8Array(31)), RangeError)
})
