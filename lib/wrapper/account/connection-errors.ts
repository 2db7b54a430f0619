import { Refused, Unreachable } from '../../client/link/refusals.ts'
import { typed } from '../home/own-process.ts'

/**
 * Explains a connection problem to the person who may have typed the address; the error's own sentence if
 * nothing is known.
 */
export function whyUnreachable(error: Refused | Unreachable, server: string): string {
  const { hostname, host } = new URL(server)
  if (error instanceof Unreachable && error.reason === 'server-error') return `The server at ${host} is failing (HTTP ${error.status}).`
  if (error instanceof Unreachable && error.reason === 'strange-answer') return `The server at ${host} is not an Afield server.`
  const code = codeOf(error)
  const certificate = certificateTrouble(code, server)
  if (certificate) return certificate.says
  switch (code) {
    case 'EAI_AGAIN':
      return `The name ${hostname} cannot be resolved right now (${code}).`
    case 'ENOTFOUND':
      return `There is no computer called ${hostname} (${code}).`
    case 'ECONNREFUSED':
      return `Nothing is listening at ${host} (${code}).${isPortForgotten(server) ? ` Did you mean http://${hostname}:3005?` : ''}`
    case undefined:
      return error.message
    default:
      return `${error.message.replace(/\.$/, '')} (${code}).`
  }
}

// A name with HTTPS is rather one of a reverse proxy, which needs no port.
function isPortForgotten(server: string): boolean {
  const { hostname, port, protocol } = new URL(server)
  return port === '' && (protocol === 'http:' || /^(localhost|[\d.]+|\[.*\])$/.test(hostname))
}

/** Why a command with a single server request failed; with what to do if known. */
export function whyNotDone(error: unknown, server: string): string {
  if (error instanceof Unreachable)
    return `${whyUnreachable(error, server)} Try again later, or find the problem with:\n  ${typed('doctor')}`
  if (error instanceof Refused && error.status === 401)
    return `This computer is no longer linked to your account on ${server}. Link it again with:\n  ${typed('login')}`
  const why = error instanceof Error ? error.message : String(error)
  return `The server rejected the request: ${why.replace(/\w$/, '$&.')}`
}

/**
 * What is wrong with a certificate, or that there is none, and what a person can do about it; undefined for
 * every other code.
 */
export function certificateTrouble(code: string | undefined, server: string): { says: string; advice: string } | undefined {
  const { host, hostname } = new URL(server)
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return {
        says: `This computer does not trust the certificate of ${host} (${code}).`,
        advice: 'If it is your own, set NODE_EXTRA_CA_CERTS to the certificate file of the authority that issued it, and try again.'
      }
    case 'CERT_HAS_EXPIRED':
      return { says: `The certificate of ${host} has expired (${code}).`, advice: 'Renew it on the server, and try again.' }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        says: `The certificate of ${host} is not valid for ${hostname} (${code}).`,
        advice: 'Use a server address that its certificate covers.'
      }
    case wrongVersion:
      return {
        says: `The server at ${host} does not speak HTTPS (${code}).`,
        advice: `If it is your own server, it was started without HTTPS. Use this address:\n  http://${host}`
      }
    default:
      return undefined
  }
}

/**
 * What the TLS library reports for a response that is not TLS; if found during a write, Node.js calls it
 * EPROTO.
 */
const wrongVersion = 'ERR_SSL_WRONG_VERSION_NUMBER'
const notOfTls = /:wrong version number:|:packet length too long:/

/** Of the innermost cause that has one. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const inner = codeOf(error.cause) ?? (error instanceof AggregateError ? codeOf(error.errors[0]) : undefined)
  if (notOfTls.test(error.message)) return wrongVersion
  return inner ?? ('code' in error && typeof error.code === 'string' && /^[A-Z][A-Z_]+$/.test(error.code) ? error.code : undefined)
}
