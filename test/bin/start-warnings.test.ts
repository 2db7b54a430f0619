import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startWarnings } from '../../bin/start-warnings.ts'
import { writeCertificate } from '../kit/certificate.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'

const day = 24 * 60 * 60 * 1000
const much = 10e9

/** For localhost and 127.0.0.1, and valid for two days. */
function certificateIn(t: Test) {
  const data = t.testdir()
  const files = { tlsCert: join(data, 'cert.pem'), tlsKey: join(data, 'key.pem') }
  writeCertificate(files)
  return { data, trustProxy: undefined, ...files }
}

t.test('a certificate that ends soon, has ended, or is for another name is named in one sentence each', t => {
  const options = certificateIn(t)
  const now = Date.now()
  const of = (home: string, at: number) => startWarnings(options, home, at, much)
  const file = `The certificate in ${options.tlsCert}`
  t.match(of('https://localhost:3005', now), [
    /^The certificate in \S+ expires in (1 days|47 hours), on [\d-]+: renew it; .+ without a restart\.$/
  ])
  t.same(of('https://localhost:3005', now - 30 * day), [])
  t.match(of('https://localhost:3005', now + 3 * day), [/ expired on [\d-]+: renew it; /])
  t.same(of('https://afield.example.net', now - 30 * day), [
    `${file} is not for afield.example.net, but for localhost, 127.0.0.1: use one with DNS:afield.example.net in its subjectAltName (node build.mjs start help https), or correct --public-url.`
  ])
  t.match(of('https://192.168.1.10:3005', now - 30 * day), [/ is not for 192\.168\.1\.10, .+ with IP:192\.168\.1\.10 in its /])
  t.end()
})

t.test('behind a proxy, phones see its certificate, so the names in our own do not matter', t => {
  const options = { ...certificateIn(t), trustProxy: 'loopback' }
  t.same(startWarnings(options, 'https://afield.example.net', Date.now() - 30 * day, much), [])
  t.end()
})

t.test('a nearly full disk is named with what is left', t => {
  const options = { data: t.testdir(), tlsCert: undefined, trustProxy: undefined }
  const of = (free: number) => startWarnings(options, 'http://127.0.0.1:3005', Date.now(), free)
  t.same(of(much), [])
  t.match(of(200e6), [/^The disk of \S+ is nearly full, with 200 MB free, .+ backup/])
  t.match(of(50e6), [/ with 50 MB free, .+: free some space now, because writes are rejected/])
  t.end()
})

t.test('the server prints these warnings below its first steps', async t => {
  const { data, tlsCert, tlsKey } = certificateIn(t)
  const args = ['serve', '--port', '0', '--data', join(data, 'data'), '--log-level', 'silent', '--tls-cert', tlsCert, '--tls-key', tlsKey]
  const server = runOnTerminal(t, { home: data, directory: data, args: [...args, '--public-url', 'https://afield.example.net'] })
  await server.sees(/correct\s+--public-url/)
  const said = server.screen.replaceAll(/\s+/g, ' ')
  t.match(said, /afield listening on .+ expires in .+ is not for afield\.example\.net,/)
})
