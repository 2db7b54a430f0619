import { createPrivateKey, X509Certificate } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** When a certificate is valid, in milliseconds since 1970. */
export interface Validity {
  from: number
  until: number
}

/**
 * The certificate of a name with its private key: one file, so that a crash cannot leave a certificate beside the key of another. Only
 * its owner may read it.
 */
export class CertificateFile {
  readonly path: string
  readonly #name: string

  constructor(folder: string, name: string) {
    this.path = join(folder, `${name}.pem`)
    this.#name = name
  }

  /** Of a certificate that an authority issued for the name; undefined for any other content, and for the placeholder. */
  validity(): Validity | undefined {
    try {
      const pem = readFileSync(this.path)
      const certificate = new X509Certificate(pem)
      const isFit = certificate.checkHost(this.#name) !== undefined && certificate.checkPrivateKey(createPrivateKey(pem))
      if (!isFit || certificate.verify(certificate.publicKey)) return undefined
      return { from: certificate.validFromDate.getTime(), until: certificate.validToDate.getTime() }
    } catch {
      return undefined
    }
  }

  replace(pem: string): void {
    writePrivateFile(this.path, pem)
  }
}

/** Replaces a file whole: after a power cut the one or the other is there. Only its owner may read it, and enter its folder. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.new`
  rmSync(next, { force: true })
  const file = openSync(next, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(next, path)
}
