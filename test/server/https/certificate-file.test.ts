import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CertificateFile, writePrivateFile } from '../../../lib/server/https/certificate-file.ts'
import { issuedCertificate, writeCertificate } from '../../kit/certificate.ts'

t.test('only a certificate that an authority issued for the name, with its key, says how long it is valid', async t => {
  const folder = t.testdir()
  const file = new CertificateFile(join(folder, 'https'), 'home.example.net')
  t.equal(file.path, join(folder, 'https', 'home.example.net.pem'))
  t.equal(file.validity(), undefined, 'there is none yet')
  const pem = issuedCertificate(folder, 'home.example.net')
  file.replace(pem)
  const { validFromDate, validToDate } = new X509Certificate(pem)
  t.same(file.validity(), { from: validFromDate.getTime(), until: validToDate.getTime() })
  const [own = '', key = ''] = pem.split(/(?=-----BEGIN PRIVATE KEY-----)/)
  t.equal(new CertificateFile(join(folder, 'https'), 'other.example.net').validity(), undefined)
  for (const [what, other] of [
    ['for another name', issuedCertificate(folder, 'other.example.net')],
    ['with the key of another', own + readFileSync(join(folder, 'ca.key'), 'utf8')],
    ['without a key', own],
    ['without a certificate', key],
    ['nothing of the kind', 'x']
  ] as const) {
    file.replace(other)
    t.equal(file.validity(), undefined, what)
  }
})

t.test('a placeholder that signed itself has no validity', async t => {
  const folder = t.testdir()
  const [tlsKey, tlsCert] = [join(folder, 'key'), join(folder, 'cert')]
  writeCertificate({ tlsKey, tlsCert })
  const file = new CertificateFile(folder, 'localhost')
  file.replace(readFileSync(tlsCert, 'utf8') + readFileSync(tlsKey, 'utf8'))
  t.equal(file.validity(), undefined)
})

const onPosix = { skip: process.platform === 'win32' && 'modes of Linux' }

t.test('only its owner reads a private file, enters its folder, and finds nothing else there', onPosix, async t => {
  const path = join(t.testdir(), 'a', 'b', 'key')
  writePrivateFile(path, 'one')
  writeFileSync(`${path}.new`, 'left by a crash', { mode: 0o644 })
  writePrivateFile(path, 'two')
  t.equal(readFileSync(path, 'utf8'), 'two')
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  t.equal(existsSync(`${path}.new`), false)
})
