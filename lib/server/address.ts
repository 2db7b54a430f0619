import { BlockList, isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { CannotStart } from '../exit.ts'

/**
 * An address in canonical form: IPv4 with dots, IPv6 as eight groups of four digits. IPv4 inside IPv6 is
 * IPv4, a port and a zone are dropped. Undefined if it is not an address, such as `unknown`.
 */
export function readAddress(text: string): string | undefined {
  // Most are, and each connection asks.
  if (isIPv4(text)) return text
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const address = bare.replace(/%.*$/, '')
  // The library also accepts shortened and octal forms, which no peer and no proxy sends.
  return isIP(address) === 0 ? undefined : spell(ipaddr.process(address))
}

/** The IPv4 address embedded in a NAT64 or 6to4 IPv6 address. Mapped ones are IPv4 after `readAddress`. */
export function embeddedAddress(address: string): string | undefined {
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  const start = range === 'rfc6052' ? 12 : range === '6to4' ? 2 : undefined
  return start === undefined ? undefined : spell(ipaddr.fromByteArray(parsed.toByteArray().slice(start, start + 4)))
}

function spell(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  return 'parts' in address ? address.parts.map(part => part.toString(16).padStart(4, '0')).join(':') : address.toString()
}

/** Rate-limit key: an IPv4 address, or the /64 that a household or a server gets of IPv6. */
export function subnetOf(address: string): string {
  return address.includes(':') ? address.slice(0, 19) : address
}

/**
 * The network of an address: /24 for IPv4, /56 for IPv6. A pairing answer goes back to the network of the
 * request.
 */
export function networkOf(address: string): string {
  return address.includes(':') ? address.slice(0, 17) : address.replace(/\.\d+$/, '')
}

/**
 * The address and its enclosing networks, the widest first: /16, /24 and itself for IPv4; /32, /48 and /64
 * for IPv6.
 */
export function networksAround(address: string): string[] {
  if (address.includes(':')) return [9, 14, 19].map(length => address.slice(0, length))
  const groups = address.split('.')
  return [2, 3, 4].map(count => groups.slice(0, count).join('.'))
}

/** Where phones reach the server, if that is known. A tunnel learns it late, and may get another one. */
export interface PublicAddress {
  readonly url: URL | undefined
}

/** Decides whose forwarding headers are trusted. */
export type TrustedProxies = (address: string) => boolean

const loopback = ['127.0.0.0/8', '::1']

/**
 * Parses `loopback`, addresses and blocks such as `10.0.0.0/8`, separated by commas. Throws `CannotStart`
 * for anything else.
 */
export function readTrustedProxies(text: string | undefined): TrustedProxies {
  const trusted = readNetworks(text, '--trust-proxy')
  return address => isWithin(trusted, address)
}

/** The networks in an option, in the form that `readTrustedProxies` parses; `flag` is the option, for errors. */
export function readNetworks(text: string | undefined, flag: string): BlockList {
  const names = text?.split(',').map(part => part.trim()) ?? []
  return networksOf(
    names.flatMap(name => (name === 'loopback' ? loopback : [name])),
    block => new CannotStart(`${flag} accepts loopback, addresses and blocks such as 10.0.0.0/8, not ${block || 'nothing'}.`)
  )
}

/** A list of blocks such as `10.0.0.0/8` and of single addresses. */
export function networksOf(blocks: readonly string[], refusal = (block: string) => new Error(`${block} is not a network`)): BlockList {
  const networks = new BlockList()
  for (const block of blocks) {
    const version = isIP(block.split('/')[0] ?? '')
    const cidr = block.includes('/') ? block : `${block}/${version === 4 ? 32 : 128}`
    if (version === 0 || !ipaddr.isValidCIDR(cidr)) throw refusal(block)
    const [network, bits] = ipaddr.parseCIDR(cidr)
    networks.addSubnet(network.toString(), bits, network.kind())
  }
  return networks
}

/** Whether an address in the form of `readAddress` is in one of the networks. */
export function isWithin(networks: BlockList, address: string): boolean {
  return networks.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}
