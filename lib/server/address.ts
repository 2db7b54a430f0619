import { BlockList, isIP } from 'node:net'
import { CannotStart } from '../exit.ts'

/**
 * An address in its one spelling here: IPv4 with dots, IPv6 as eight groups of four digits. IPv4 inside IPv6 is IPv4, a
 * port and a zone are dropped. Undefined for what is no address, such as `unknown`.
 */
export function readAddress(text: string): string | undefined {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const address = bare.replace(/%.*$/, '')
  switch (isIP(address)) {
    case 4:
      return address
    case 6:
      return fromGroups(groupsOf(address))
    default:
      return undefined
  }
}

/** Who shares limits: one IPv4 address, or the /64 that a household or a server gets of IPv6. */
export function subnetOf(address: string): string {
  return address.includes(':') ? address.slice(0, 19) : address
}

/** The network an address belongs to: /24 for IPv4, /56 for IPv6. The pairing answer goes back to where the question came from. */
export function networkOf(address: string): string {
  return address.includes(':') ? address.slice(0, 17) : address.replace(/\.\d+$/, '')
}

/** The address and the networks that belong together around it, the widest first: /16, /24 and itself for IPv4; /32, /48 and /64 for IPv6. */
export function networksAround(address: string): string[] {
  if (address.includes(':')) return [9, 14, 19].map(length => address.slice(0, length))
  const groups = address.split('.')
  return [2, 3, 4].map(count => groups.slice(0, count).join('.'))
}

/** Tells whose word counts for where a request came from. */
export type TrustedProxies = (address: string) => boolean

const loopback = ['127.0.0.0/8', '::1']

/** Reads `loopback`, addresses and blocks such as `10.0.0.0/8`, with commas between. Throws `CannotStart` for anything else. */
export function readTrustedProxies(text: string | undefined): TrustedProxies {
  const trusted = readNetworks(text, '--trust-proxy')
  return address => trusted.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
}

/** The networks that an option names, in the form that `readTrustedProxies` reads; `flag` is the option, for what is thrown. */
export function readNetworks(text: string | undefined, flag: string): BlockList {
  const networks = new BlockList()
  for (const name of text?.split(',').map(part => part.trim()) ?? []) {
    for (const block of name === 'loopback' ? loopback : [name]) addTo(networks, block, flag)
  }
  return networks
}

function addTo(networks: BlockList, block: string, flag: string): void {
  const [given = '', bits, ...more] = block.split('/')
  const version = isIP(given)
  const [most, family] = version === 4 ? [32, 'ipv4' as const] : [128, 'ipv6' as const]
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (version === 0 || more.length > 0 || !(prefix <= most)) {
    throw new CannotStart(`${flag} takes loopback, addresses and blocks such as 10.0.0.0/8, not ${block || 'nothing'}.`)
  }
  networks.addSubnet(given, prefix, family)
}

function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const before = groups(head)
  if (tail === undefined) return before
  const after = groups(tail)
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function groups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap(group => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function fromGroups(numbers: readonly number[]): string {
  const isMapped = numbers.slice(0, 5).every(number => number === 0) && numbers[5] === 0xffff
  if (isMapped) {
    return numbers
      .slice(6)
      .flatMap(number => [number >> 8, number & 255])
      .join('.')
  }
  return numbers.map(number => number.toString(16).padStart(4, '0')).join(':')
}
