import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, connect, type PeerCertificate } from 'node:tls'
import { helpCommand } from '../help-pages.ts'
import { codeOf } from './error-code.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const waitMs = 8_000
const hour = 60 * 60 * 1000
const day = 24 * hour

/** The certificate file of a server that terminates TLS itself: it is served after the next reload. */
export function examineCertificate(file: string, now: number): Finding {
  try {
    return certificate(Date.parse(new X509Certificate(readFileSync(file)).validTo), now)
  } catch (error) {
    return fail('certificate', `${file} cannot be used (${codeOf(error)})`, 'Give the file with the certificate chain in --tls-cert')
  }
}

/** Whether that file is for a host. Clients no longer look at its CN. */
export function examineNames(file: string, host: string): Finding {
  const own = new X509Certificate(readFileSync(file))
  const isCovered = isIP(host) ? own.checkIP(host) : own.checkHost(host, { subject: 'never' })
  if (isCovered !== undefined) return ok('certificate', `is for ${host}`)
  const { CN } = own.toLegacyObject().subject
  return fail('certificate', `is not for ${host}, but for ${namesIn({ CN, subjectaltname: own.subjectAltName })}`, wayToCover(host))
}

export function certificate(expiresAt: number, now: number): Finding {
  const leftMs = expiresAt - now
  const until = new Date(expiresAt).toISOString().slice(0, 10)
  const advice = 'Renew it; the server reloads it without a restart'
  if (leftMs <= 0) return fail('certificate', `expired on ${until}`, advice)
  if (leftMs < 14 * day) return warn('certificate', `expires in ${inUnits(leftMs)}, on ${until}`, advice)
  return ok('certificate', `valid until ${until}`)
}

function inUnits(leftMs: number): string {
  if (leftMs >= 2 * day) return `${Math.floor(leftMs / day)} days`
  return leftMs >= 2 * hour ? `${Math.floor(leftMs / hour)} hours` : `${Math.ceil(leftMs / 60_000)} min`
}

/** Whether a connection failed because the certificate was rejected. */
export function isAboutCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO/.test(code)
}

/** Why phones reject the certificate at the address. A wrong name comes first: no installation helps against it. */
export async function examineRejected(of: string, url: URL, code: string): Promise<Finding> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const served = await certificateAt(host, Number(url.port || 443)).catch(() => undefined)
  if (served && checkServerIdentity(host, served)) {
    return fail(
      of,
      `the certificate at ${url.origin} is not for ${host}, but for ${namesIn({ CN: served.subject?.CN, subjectaltname: served.subjectaltname })}`,
      wayToCover(host)
    )
  }
  return fail(of, `${url.origin}: ${flawOf(code)} (${code})`, adviceOn(code))
}

/** Accepts any certificate, to look at it; nothing is sent. */
async function certificateAt(host: string, port: number): Promise<PeerCertificate> {
  const socket = connect({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 && { servername: host }) })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(waitMs) })
    return socket.getPeerCertificate()
  } finally {
    socket.destroy()
  }
}

function wayToCover(host: string): string {
  return `Use one with ${isIP(host) ? 'IP' : 'DNS'}:${host} in its subjectAltName (${helpCommand('https')}), or correct --public-url`
}

function namesIn({ CN, subjectaltname }: { CN: string | string[] | undefined; subjectaltname: string | undefined }): string {
  if (subjectaltname === undefined) return `${CN ?? 'nothing'}, and has no subjectAltName`
  return subjectaltname.replaceAll(/DNS:|IP Address:/g, '')
}

function flawOf(code: string): string {
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return 'the certificate is self-signed: phones accept it only when it is installed on them'
    case 'CERT_HAS_EXPIRED':
      return 'the certificate has expired'
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'the certificate is from a private authority: phones accept it only when its root is installed on them'
    default:
      return 'the certificate cannot be verified: its chain is incomplete, or its authority is not known here'
  }
}

function adviceOn(code: string): string {
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return `Install it on every phone, and set NODE_EXTRA_CA_CERTS to it on computers; or let --https auto get another one (${helpCommand('https')})`
    case 'CERT_HAS_EXPIRED':
      return 'Renew it; the server reloads it without a restart'
    default:
      return `Serve the complete chain, such as fullchain.pem; or install the root on every phone (${helpCommand('https')})`
  }
}
