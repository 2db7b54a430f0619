import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { certificate, examineCertificate, examineNames, examineRejected, isAboutCertificate } from '../../lib/doctor/certificate.ts'
import { writeCertificate } from '../kit/certificate.ts'

const day = 24 * 60 * 60 * 1000
const at = Date.UTC(2030, 0, 31)

t.test('a certificate is renewed two weeks before it expires, and what is left is shown in days, hours or minutes', async t => {
  const renew = 'Renew it; the server reloads it without a restart'
  const left = (ms: number) => certificate(at, at - ms)
  t.strictSame(left(14 * day), { of: 'certificate', state: 'ok', says: 'valid until 2030-01-31' })
  t.strictSame(left(14 * day - 1), { of: 'certificate', state: 'warn', says: 'expires in 13 days, on 2030-01-31', advice: renew })
  t.match(left(2 * day), { says: /^expires in 2 days,/ })
  t.match(left(2 * day - 1), { says: /^expires in 47 hours,/ })
  t.match(left(day / 12), { says: /^expires in 2 hours,/ })
  t.match(left(day / 12 - 1), { says: /^expires in 120 min,/ })
  t.match(left(1), { state: 'warn', says: /^expires in 1 min,/ })
  t.strictSame(left(0), { of: 'certificate', state: 'fail', says: 'expired on 2030-01-31', advice: renew })
})

t.test('the date and the names of a certificate file are checked, and its CN is not a name', async t => {
  const place = t.testdir({ 'none.pem': 'no certificate' })
  const { cert, key } = make(place, 'named', { subject: '/CN=a.example', names: 'DNS:b.example,IP:127.0.0.1' })
  const end = new X509Certificate(readFileSync(cert)).validToDate
  const until = end.toISOString().slice(0, 10)
  t.match(examineCertificate(cert, end.getTime() - day), { state: 'warn', says: `expires in 24 hours, on ${until}` })
  t.match(examineCertificate(cert, end.getTime()), { state: 'fail', says: `expired on ${until}` })
  const advice = 'Give the file with the certificate chain in --tls-cert'
  t.match(examineCertificate(join(place, 'none.pem'), 0), { state: 'fail', says: / cannot be used \(ERR_OSSL_/, advice })
  t.match(examineCertificate(join(place, 'missing'), 0), {
    state: 'fail',
    says: `${join(place, 'missing')} cannot be used (ENOENT)`,
    advice
  })
  t.match(examineCertificate(key, 0), { state: 'fail' })

  t.strictSame(examineNames(cert, 'b.example'), { of: 'certificate', state: 'ok', says: 'is for b.example' })
  t.match(examineNames(cert, '127.0.0.1'), { state: 'ok', says: 'is for 127.0.0.1' })
  t.match(examineNames(cert, 'a.example'), {
    state: 'fail',
    says: 'is not for a.example, but for b.example, 127.0.0.1',
    advice: /^Use one with DNS:a\.example in its subjectAltName \(.*https\), or correct --public-url$/
  })
  t.match(examineNames(cert, '127.0.0.2'), { state: 'fail', advice: /^Use one with IP:127\.0\.0\.2 in/ })
  const old = make(place, 'old', { subject: '/CN=a.example' })
  t.match(examineNames(old.cert, 'a.example'), {
    state: 'fail',
    says: 'is not for a.example, but for a.example, and has no subjectAltName'
  })
  const nameless = make(place, 'nameless', { subject: '/O=nobody' })
  t.match(examineNames(nameless.cert, 'a.example'), { says: 'is not for a.example, but for nothing, and has no subjectAltName' })
})

t.test('errors about a certificate are told from those of the connection', async t => {
  for (const code of ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']) {
    t.equal(isAboutCertificate(code), true, code)
  }
  for (const code of ['ECONNREFUSED', 'ENOTFOUND']) t.equal(isAboutCertificate(code), false, code)
})

t.test('of a rejected certificate a wrong name is reported first, whatever else is wrong with it', async t => {
  const place = t.testdir()
  const port = await serve(t, make(place, 'named', { subject: '/CN=x', names: 'DNS:localhost,IP:127.0.0.1' }))
  const examine = (host: string, code: string) => examineRejected('public address', new URL(`https://${host}:${port}/`), code)
  t.match(await examine('127.0.0.2', 'CERT_HAS_EXPIRED'), {
    of: 'public address',
    state: 'fail',
    says: `the certificate at https://127.0.0.2:${port} is not for 127.0.0.2, but for localhost, 127.0.0.1`,
    advice: /^Use one with IP:127\.0\.0\.2/
  })
  const known: [code: string, says: RegExp, advice: RegExp][] = [
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      /is self-signed: phones accept it only when it is installed/,
      /^Install it on every phone, .*--https auto/
    ],
    ['SELF_SIGNED_CERT_IN_CHAIN', /is from a private authority: phones accept it only when its root/, /^Install it on every phone, /],
    ['CERT_HAS_EXPIRED', /: the certificate has expired \(CERT_HAS_EXPIRED\)$/, /^Renew it; the server reloads it/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /cannot be verified: its chain is incomplete/, /^Serve the complete chain, such as fullchain\.pem/]
  ]
  for (const [code, says, advice] of known) {
    const found = await examine('localhost', code)
    t.match(found, { of: 'public address', state: 'fail', says, advice }, code)
    t.match(found.says, `https://localhost:${port}: `, code)
  }
})

t.test('a host name is sent, so that a server with several certificates shows the right one', async t => {
  const place = t.testdir()
  const asked: string[] = []
  const own = make(place, 'own', { subject: '/CN=x', names: 'DNS:localhost' })
  const server = createServer({
    ...pemOf(own),
    SNICallback(name, done) {
      asked.push(name)
      done(null)
    }
  })
  const port = await listen(t, server)
  await examineRejected('own address', new URL(`https://localhost:${port}`), 'CERT_HAS_EXPIRED')
  await examineRejected('own address', new URL(`https://127.0.0.1:${port}`), 'CERT_HAS_EXPIRED')
  t.strictSame(asked, ['localhost'])
})

t.test('a certificate that can no longer be looked at is reported with the fault that was seen', async t => {
  const gone = await examineRejected('own address', new URL('https://127.0.0.1:1'), 'CERT_HAS_EXPIRED')
  t.match(gone, { of: 'own address', says: 'https://127.0.0.1:1: the certificate has expired (CERT_HAS_EXPIRED)' })
  const bracketed = await examineRejected('own address', new URL('https://[::1]:1'), 'CERT_HAS_EXPIRED')
  t.match(bracketed, { says: 'https://[::1]:1: the certificate has expired (CERT_HAS_EXPIRED)' })
})

interface Files {
  cert: string
  key: string
}

function make(place: string, name: string, { subject, names = '' }: { subject: string; names?: string }): Files {
  const [key, cert] = [join(place, `${name}.key`), join(place, `${name}.pem`)]
  writeCertificate({ tlsKey: key, tlsCert: cert }, { subject, names })
  return { cert, key }
}

function pemOf({ cert, key }: Files) {
  return { cert: readFileSync(cert), key: readFileSync(key) }
}

function serve(t: Test, files: Files): Promise<number> {
  return listen(t, createServer(pemOf(files)))
}

async function listen(t: Test, server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}
