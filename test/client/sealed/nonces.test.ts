import t from 'tap'
import { nonceOf } from '../../../lib/client/sealed/nonces.ts'

const sealed = Buffer.from(Array.from({ length: 60 }, (_, index) => index * 3))

function withOther(byte: number): string {
  const other = Buffer.from(sealed)
  other[byte] = 255
  return other.toString('base64')
}

t.test('a sealed text is known by its first 24 bytes, whatever follows and however it is written', async t => {
  const nonce = nonceOf(sealed.toString('base64'))
  t.equal(Buffer.from(nonce, 'base64').length, 24)
  for (const byte of [0, 1, 11, 12, 23]) t.not(nonceOf(withOther(byte)), nonce, `byte ${byte}`)
  for (const byte of [24, 59]) t.equal(nonceOf(withOther(byte)), nonce, `byte ${byte}`)
  const shown = Buffer.from([...sealed.subarray(0, 20), 251, 255, 254, ...sealed.subarray(23)])
  t.equal(nonceOf(shown.toString('base64url')), nonceOf(shown.toString('base64')))
})

t.test('a shorter text is known by all of it, and what is not base64 is all the same', async t => {
  const short = sealed.subarray(0, 10)
  t.equal(nonceOf(short.toString('base64')), short.toString('base64'))
  t.equal(nonceOf(short.toString('base64url')), short.toString('base64'))
  t.equal(nonceOf('?'), '')
  t.equal(nonceOf(''), '')
})
