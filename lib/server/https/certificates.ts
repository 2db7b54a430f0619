/** An order at a certificate authority that speaks ACME. */
export interface CertificateOrder {
  /** The host name that the certificate is for. */
  name: string
  /** The authority's ACME directory. */
  directory: string
  /** A directory at which the same order is tried first; what it issues is thrown away. */
  trialDirectory?: string | undefined
  /** The private folder with the keys of our accounts at authorities. */
  folder: string
  /** How the authority checks that the name is ours. */
  challenge: Challenge
}

/** HTTP-01 on a port of ours that is port 80 from outside, or DNS-01 through the operator's own program. */
export type Challenge = { type: 'http-01'; port: number } | { type: 'dns-01'; hook: string }

/** What makes certificates: each as one PEM text, the chain and then the private key. */
export interface Certificates {
  /** Rejects with CannotStart, in one sentence, if the authority does not issue it. */
  order(order: CertificateOrder, signal: AbortSignal): Promise<string>
  /** One that no client trusts, so that the server can listen before the first order has succeeded. */
  placeholder(name: string): Promise<string>
}
