import t from 'tap'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import { whyNotDone, whyUnreachable } from '../../../lib/wrapper/account/connection-errors.ts'

const failed = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('why'), { code }) })
const cases: [cause: unknown, says: string][] = [
  [failed('ENOTFOUND'), 'There is no computer called home.example (ENOTFOUND).'],
  [failed('ECONNREFUSED'), 'Nothing is listening at home.example:3005 (ECONNREFUSED).'],
  [
    new TypeError('fetch failed', { cause: new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })]) }),
    'Nothing is listening at home.example:3005 (ECONNREFUSED).'
  ],
  [
    failed('DEPTH_ZERO_SELF_SIGNED_CERT'),
    'This computer does not trust the certificate of home.example:3005 (DEPTH_ZERO_SELF_SIGNED_CERT).'
  ],
  [failed('CERT_HAS_EXPIRED'), 'The certificate of home.example:3005 has expired (CERT_HAS_EXPIRED).'],
  [
    new TypeError('fetch failed', {
      cause: Object.assign(new Error('write EPROTO 00:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:c:99:'), {
        code: 'EPROTO'
      })
    }),
    'The server at home.example:3005 does not speak HTTPS (ERR_SSL_WRONG_VERSION_NUMBER).'
  ],
  [failed('EPROTO'), 'The server cannot be reached (EPROTO).'],
  [new Error('other'), 'The server cannot be reached.']
]
t.test('a failing server is reported with its answer', async t => {
  const error = new Unreachable('server-error', { status: 502 })
  t.equal(whyUnreachable(error, 'https://home.example'), 'The server at home.example is failing (HTTP 502).')
})

t.test('an address without a port is answered with the default one', async t => {
  const refused = new Unreachable('network', { cause: failed('ECONNREFUSED') })
  t.match(whyUnreachable(refused, 'http://home.example'), /Did you mean http:\/\/home\.example:3005\?$/)
  t.match(whyUnreachable(refused, 'https://127.0.0.1'), /\. Did you mean http:\/\/127\.0\.0\.1:3005\?$/)
  t.notMatch(whyUnreachable(refused, 'https://home.example'), /Did you mean/)
  t.notMatch(whyUnreachable(refused, 'http://127.0.0.1:3006'), /Did you mean/)
})

t.test('a command rejected by the server says why, and what to do', async t => {
  const server = 'https://home.example'
  const cases: [error: unknown, says: RegExp][] = [
    [new Unreachable('strange-answer'), /^The server at home\.example is not an Afield server\. Try again later, .* with:\n {2}.* doctor$/],
    [new Unreachable('network', { cause: failed('ECONNREFUSED') }), /^Nothing is listening at home\.example \(ECONNREFUSED\)\. Try again/],
    [new Refused(401, 'Invalid token'), /^This computer is no longer linked to .*\. Link it again with:\n {2}.* login$/],
    [new Refused(403, 'Not allowed'), /^The server rejected the request: Not allowed\.$/],
    [new Error('It failed.'), /^The server rejected the request: It failed\.$/]
  ]
  for (const [error, says] of cases) t.match(whyNotDone(error, server), says)
})

for (const [cause, says] of cases) {
  t.test(`an unreachable server: ${says}`, async t => {
    t.equal(whyUnreachable(new Unreachable('network', { cause }), 'https://home.example:3005'), says)
  })
}
