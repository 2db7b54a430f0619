import type { Certificates } from './certificates.ts'

/** In this process; the library is loaded with the first certificate, and stays. */
export const ownCertificates: Certificates = {
  order: async (order, signal) => (await import('./acme.ts')).orderCertificate(order, signal),
  placeholder: async name => (await import('./acme.ts')).placeholderCertificate(name)
}
