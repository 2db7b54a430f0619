import type { HttpRequest } from 'uWebSockets.js'
import type { TrustedProxies } from '../../address.ts'
import type { Logger } from '../../watch/log.ts'

/** Called for each connection, with its client address. */
export type ProxyHint = (address: string, request: HttpRequest) => void

/**
 * Logs once that a program on this computer forwards requests and is not a trusted proxy. Nothing else
 * reveals it: everything works until all users together reach the limits of one address.
 */
export function createProxyHint({ isProxy, log }: { isProxy: TrustedProxies; log: Logger }): ProxyHint {
  let isTold = false
  return (address, request) => {
    if (isTold || !isOwnMachine(address) || isProxy(address)) return
    if (request.getHeader('x-forwarded-for') === '' && request.getHeader('forwarded') === '') return
    isTold = true
    log.warn(
      {},
      'A proxy on this computer is not trusted, so all clients behind it share the limits of one address: see --trust-proxy loopback'
    )
  }
}

function isOwnMachine(address: string): boolean {
  return address.startsWith('127.') || /^(0000:){7}0001$/.test(address)
}
