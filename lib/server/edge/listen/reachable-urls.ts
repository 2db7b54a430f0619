import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { isLoopback } from '../../../options.ts'

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>

/**
 * The URLs at which other computers reach a server that listens on `url`: that one alone, or, for all
 * addresses of the computer (`0.0.0.0`, `::`), one per IPv4 address, or the loopback address if it has
 * none. Never empty.
 */
export function reachableUrls(url: string, interfaces: Interfaces = networkInterfaces()): [string, ...string[]] {
  const { hostname, protocol, port } = new URL(url)
  if (hostname !== '0.0.0.0' && hostname !== '[::]') return [url]
  const at = (host: string) => `${protocol}//${host}${port === '' ? '' : `:${port}`}`
  const [first, ...others] = networkAddresses(interfaces).map(at)
  return first === undefined ? [at(hostname === '[::]' ? '[::1]' : '127.0.0.1')] : [first, ...others]
}

/** The IPv4 addresses of this computer: phones on a home network have IPv4 too, and a person can type them. */
export function networkAddresses(interfaces: Interfaces = networkInterfaces()): string[] {
  return Object.entries(interfaces)
    .flatMap(([name, addresses]) => (isOfContainers(name) ? [] : (addresses ?? [])))
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !isLoopback(address))
    .map(({ address }) => address)
}

/** Networks within this computer, by the names that Docker, Podman, libvirt and LXC give them. */
function isOfContainers(name: string): boolean {
  return /^(docker|br-|veth|cni|podman|virbr|lxcbr|lxdbr)/.test(name)
}
