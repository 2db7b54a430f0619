import { type Refused, Unreachable } from '../client/refusals.ts'

/** What is wrong between here and the server, for the person who may have typed its address; the sentence of the error when nothing is known. */
export function whyUnreachable(error: Refused | Unreachable, server: string): string {
  const { hostname, host } = new URL(server)
  if (error instanceof Unreachable && error.reason === 'server-error')
    return `What answers at ${host} is in trouble (HTTP ${error.status}).`
  const code = codeOf(error)
  switch (code) {
    case 'EAI_AGAIN':
      return `The name ${hostname} cannot be looked up now (${code}).`
    case 'ENOTFOUND':
      return `There is no computer called ${hostname} (${code}).`
    case 'ECONNREFUSED':
      return `Nothing listens at ${host} (${code}).`
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return `The certificate is not known here; set NODE_EXTRA_CA_CERTS to its file (${code}).`
    case undefined:
      return error.message
    default:
      return `${error.message.replace(/\.$/, '')} (${code}).`
  }
}

/** Of the innermost cause that has one. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const inner = codeOf(error.cause) ?? (error instanceof AggregateError ? codeOf(error.errors[0]) : undefined)
  return inner ?? ('code' in error && typeof error.code === 'string' && /^[A-Z][A-Z_]+$/.test(error.code) ? error.code : undefined)
}
