import { randomBytes } from 'node:crypto'
import t from 'tap'
import { decodeBase64 } from '../../lib/server/base64.ts'

t.test('base64 in both alphabets is decoded, with and without padding', async t => {
  for (const length of [0, 1, 2, 3, 4, 31, 32, 33]) {
    const bytes = randomBytes(length)
    for (const text of [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('base64').replaceAll('=', '')])
      t.same(Buffer.from(decodeBase64(text) ?? 'nothing'), bytes, text)
  }
  t.same(Buffer.from(decodeBase64('+/-_') ?? 'nothing'), Buffer.from('+/+/', 'base64'))
})

t.test('text that is not base64 is not decoded', async t => {
  for (const text of ['A', 'AAAAA', 'AAA=A', '=AAA', 'AAA===', 'AA A', 'AAAA\n', ' AAAA', 'AÄAA', 'AA.A'])
    t.equal(decodeBase64(text), undefined, JSON.stringify(text))
})
