import type { HttpRequest } from 'uWebSockets.js'
import type { TrustedProxies } from '../../address.ts'
import type { Logger } from '../../watch/log.ts'

/** Told of each connection, by the address it counts for. */
export type ProxyHint = (address: string, request: HttpRequest) => void

/**
 * Says once that a program on this machine forwards requests and is not trusted to say for whom. Nothing else tells: all
 * works until the limits of one address are spent by everybody together.
 */
export function createProxyHint({ isProxy, log }: { isProxy: TrustedProxies; log: Logger }): ProxyHint {
  let isTold = false
  return (address, request) => {
    if (isTold || !isOwnMachine(address) || isProxy(address)) return
    if (request.getHeader('x-forwarded-for') === '' && request.getHeader('forwarded') === '') return
    isTold = true
    log.warn(
      {},
      'A proxy on this machine is not trusted, so everybody behind it shares the limits of one address: see --trust-proxy loopback'
    )
  }
}

function isOwnMachine(address: string): boolean {
  return address.startsWith('127.') || /^(0000:){7}0001$/.test(address)
}
