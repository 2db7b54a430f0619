import t from 'tap'
import { cryptoReady } from '../../lib/crypto/index.ts'
import { checkVectors } from './vectors.ts'

await cryptoReady()

t.test('every wire vector matches byte for byte', async t => {
  const checks = checkVectors()
  t.ok(checks.length > 500, `${checks.length} checks`)
  t.same(
    checks.filter(({ actual, expected }) => actual !== expected),
    []
  )
})
