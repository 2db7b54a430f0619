import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { type PublicAddress, readAddress, type TrustedProxies } from '../../address.ts'

/** The address of this server, without a trailing slash, as the sender of a request wrote it. */
export type OwnAddress = (response: HttpResponse, request: HttpRequest) => string

/**
 * Existing clients send their token with an upload only if its URL begins with their configured address. So
 * an answer names the server as its caller does.
 */
export function createOwnAddress({
  secure,
  publicAddress,
  isProxy
}: {
  secure: boolean
  publicAddress: PublicAddress
  isProxy: TrustedProxies
}): OwnAddress {
  return (response, request) => {
    const known = publicAddress.url
    const host = request.getHeader('host')
    if (known && (host.toLowerCase() === known.host || !isHost(host))) return known.href.replace(/\/+$/, '')
    const isHttps = secure || (isProxy(peerOf(response)) && /^https\b/i.test(request.getHeader('x-forwarded-proto')))
    return `${isHttps ? 'https' : 'http'}://${isHost(host) ? host : 'localhost'}`
  }
}

/** The other end of the connection. On a Unix socket it has no address, and is on this computer. */
export function peerOf(response: HttpResponse): string {
  const text = Buffer.from(response.getRemoteAddressAsText()).toString()
  return text === '' ? '127.0.0.1' : (readAddress(text) ?? text)
}

function isHost(text: string): boolean {
  return /^([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(text)
}
