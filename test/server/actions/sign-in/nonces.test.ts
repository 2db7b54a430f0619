import t from 'tap'
import { createNonces } from '../../../../lib/server/actions/sign-in/nonces.ts'

const secret = new Uint8Array(32).fill(1)
const now = 1_700_000_000_000

t.test('a nonce is valid for a minute, and some seconds more for delays, at every instance of its server [A2]', async t => {
  const nonce = createNonces(secret).issue(now + 0.5)
  t.equal(nonce.length, 32)
  const { isGood } = createNonces(secret)
  for (const [ms, expected] of [
    [0, true],
    [64_999, true],
    [65_000, false],
    [-4_999, true],
    [-5_000, false]
  ] as const)
    t.equal(isGood(nonce, now + ms), expected, `${ms}`)
})

t.test('no two nonces are the same, and one that is changed, cut off or of another server is rejected [A2]', async t => {
  const { issue, isGood } = createNonces(secret)
  const nonce = issue(now)
  t.notSame(issue(now), nonce)
  t.equal(createNonces(new Uint8Array(32).fill(2)).isGood(nonce, now), false)
  for (let at = 0; at < nonce.length; at += 1) {
    const changed = Buffer.from(nonce)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.equal(isGood(changed, now), false, `byte ${at}`)
  }
  for (const other of [
    nonce.subarray(1),
    nonce.subarray(0, 31),
    Buffer.concat([nonce, Buffer.alloc(1)]),
    Buffer.alloc(0),
    Buffer.alloc(32)
  ])
    t.equal(isGood(other, now), false)
})
