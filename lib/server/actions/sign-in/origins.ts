import { hostname, networkInterfaces } from 'node:os'
import type { PublicAddress } from '../../address.ts'

/**
 * Whether clients may know the server under an origin: its public one, or that of the machine it runs on. A
 * client signs the origin it talks to; a foreign one shows that someone in between forwards messages meant
 * for another server.
 */
export function ownOrigins(publicAddress: PublicAddress): (origin: string) => boolean {
  return origin => origin === publicAddress.url?.origin || isThisMachine(origin)
}

function isThisMachine(origin: string): boolean {
  const url = URL.parse(origin)
  if (!url || url.origin !== origin) return false
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)) return true
  const name = hostname().toLowerCase()
  if (host === name || host === `${name}.local`) return true
  return Object.values(networkInterfaces()).some(addresses => addresses?.some(({ address }) => address === host))
}
