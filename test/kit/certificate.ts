import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Self-signed for two days, as created with openssl: for localhost, unless others are given. `names` may be empty. */
export function writeCertificate(
  { tlsKey, tlsCert }: { tlsKey: string; tlsCert: string },
  { subject = '/CN=localhost', names = 'DNS:localhost,IP:127.0.0.1' } = {}
): void {
  const extension = names === '' ? [] : ['-addext', `subjectAltName=${names}`]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', tlsKey, '-out', tlsCert, '-subj', subject, ...extension], {
    stdio: 'ignore'
  })
}

/** The same in the folder of the test, which is made anew. */
export function makeCertificate(t: Pick<Test, 'testdir'>): { tlsKey: string; tlsCert: string } {
  const folder = t.testdir()
  const files = { tlsKey: join(folder, 'key.pem'), tlsCert: join(folder, 'cert.pem') }
  writeCertificate(files)
  return files
}

/** PEM of a certificate for the name, issued by an authority made for it, and of its key: what programs such as `tailscale cert` print. */
export function issuedCertificate(folder: string, name: string): string {
  const file = (part: string) => join(folder, part)
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const make = (args: string[]) => execFileSync('openssl', ['req', '-x509', ...kind, ...args], { stdio: 'ignore' })
  make(['-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=an authority'])
  const issue = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  make(['-keyout', file('own.key'), '-out', file('own.pem'), ...issue])
  return readFileSync(file('own.pem'), 'utf8') + readFileSync(file('own.key'), 'utf8')
}
