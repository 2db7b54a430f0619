import t from 'tap'
import { Unreachable } from '../../lib/client/refusals.ts'
import { whyUnreachable } from '../../lib/wrapper/why-unreachable.ts'

const failed = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('why'), { code }) })
const cases: [cause: unknown, says: string][] = [
  [failed('ENOTFOUND'), 'There is no computer called home.example (ENOTFOUND).'],
  [failed('ECONNREFUSED'), 'Nothing listens at home.example:3005 (ECONNREFUSED).'],
  [
    new TypeError('fetch failed', { cause: new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })]) }),
    'Nothing listens at home.example:3005 (ECONNREFUSED).'
  ],
  [
    failed('DEPTH_ZERO_SELF_SIGNED_CERT'),
    'This computer does not trust the certificate of home.example:3005 (DEPTH_ZERO_SELF_SIGNED_CERT).'
  ],
  [failed('CERT_HAS_EXPIRED'), 'The certificate of home.example:3005 has expired (CERT_HAS_EXPIRED).'],
  [new Error('other'), 'The server cannot be reached.']
]
t.test('a server in trouble is named with what it answered', async t => {
  const error = new Unreachable('server-error', { status: 502 })
  t.equal(whyUnreachable(error, 'https://home.example'), 'What answers at home.example is in trouble (HTTP 502).')
})

for (const [cause, says] of cases) {
  t.test(`a server that cannot be reached: ${says}`, async t => {
    t.equal(whyUnreachable(new Unreachable('network', { cause }), 'https://home.example:3005'), says)
  })
}
