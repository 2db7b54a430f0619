import { execFileSync } from 'node:child_process'

/** For localhost, self-signed, as created with openssl. */
export function writeCertificate({ tlsKey, tlsCert }: { tlsKey: string; tlsCert: string }): void {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', tlsKey, '-out', tlsCert, ...subject], { stdio: 'ignore' })
}
