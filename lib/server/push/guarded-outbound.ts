import { lookup as systemLookup } from 'node:dns'
import type { BlockList, LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Agent, buildConnector, request } from 'undici'
import { embeddedAddress, isWithin, networksOf, readAddress } from '../address.ts'
import { NotAllowed, type Outbound, readTarget } from './outbound.ts'

/** A provider's response is a few words; a longer one is cut off with its connection. */
const mostAnswerBytes = 64 * 1024
const connectWithinMs = 5_000
const perHost = 4

/** Where requests to addresses that people chose may go. */
interface Destinations {
  /** Networks besides the public internet, such as a home's. Plain HTTP is for these only. */
  allowed: BlockList
  /** The port this server listens on: never called at an address of this computer. */
  ownPort: () => number
}

type Lookup = (host: string, done: (error: Error | null, addresses: { address: string; family: number }[]) => void) => void
const lookupAll: Lookup = (host, done) => systemLookup(host, { all: true }, (error, addresses) => done(error, addresses ?? []))

export function openOutbound(
  destinations: Destinations,
  { lookup = lookupAll, now = Date.now, ca }: Partial<OutboundParts> = {}
): Outbound {
  const agents = { 'https:': agentFor(true), 'http:': agentFor(false) }

  function agentFor(isSecure: boolean): Agent {
    const connectorFor = (isOwnPort: boolean) => {
      const mayGo = (address: string | undefined) => mayReach(address, destinations, { isSecure, isOwnPort })
      return buildConnector({ timeout: connectWithinMs, lookup: guarded(lookup, mayGo), ...(ca !== undefined && { ca }) })
    }
    const [usual, toOwnPort] = [connectorFor(false), connectorFor(true)]
    return new Agent({
      connections: perHost,
      maxResponseSize: mostAnswerBytes,
      connect: (to, done) => (portOf(to) === destinations.ownPort() ? toOwnPort : usual)(to, done)
    })
  }

  return {
    async send({ url, method = 'POST', headers, body, signal }) {
      const target = readTarget(url)
      const isSecure = target.protocol === 'https:'
      const literal = readAddress(target.hostname)
      const how = { isSecure, isOwnPort: portOf(target) === destinations.ownPort() }
      // A literal address is never looked up.
      if (literal !== undefined && !mayReach(literal, destinations, how)) throw new NotAllowed('That address may not be reached.')
      const dispatcher = isSecure ? agents['https:'] : agents['http:']
      const answer = await request(target, { method, headers, body: body ?? null, signal, dispatcher })
      const text = await answer.body.text()
      return { status: answer.statusCode, retryAfterMs: retryAfter(answer.headers['retry-after'], now), text }
    },
    async close() {
      await Promise.all(Object.values(agents).map(agent => agent.destroy()))
    }
  }
}

function portOf({ port, protocol }: { port: string; protocol: string }): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

interface OutboundParts {
  lookup: Lookup
  now: () => number
  /** Additional certificates to trust, for tests. */
  ca: string
}

// The name is resolved here, once, and the connection is made to the checked address: a second lookup
// could return another one.
function guarded(lookup: Lookup, mayGo: (address: string | undefined) => boolean): LookupFunction {
  return (host, { all }, done) => {
    lookup(host, (error, found) => {
      const allowed = found.filter(({ address }) => mayGo(readAddress(address)))
      const [first] = allowed
      if (error) done(error, '', 0)
      else if (first === undefined) done(new NotAllowed('That name leads to no address that may be reached.'), '', 0)
      else if (all) done(null, allowed)
      else done(null, first.address, first.family)
    })
  }
}

/** Whether a request may go to an address; plain HTTP only to the networks that the operator named. */
export function mayReach(
  address: string | undefined,
  { allowed }: Pick<Destinations, 'allowed'>,
  { isSecure, isOwnPort = false }: { isSecure: boolean; isOwnPort?: boolean }
): boolean {
  if (address === undefined || (isOwnPort && isThisComputer(address))) return false
  const inside = embeddedAddress(address)
  const forms = inside === undefined ? [address] : [address, inside]
  if (forms.some(form => isWithin(never, form))) return false
  if (isWithin(allowed, address)) return true
  return isSecure && forms.every(isPublic)
}

function isThisComputer(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(each => readAddress(each.address)))
  return isWithin(loopback, address) || own.includes(address)
}

function isPublic(address: string): boolean {
  return address.includes(':') ? isWithin(publicV6, address) && !isWithin(special, address) : !isWithin(special, address)
}

function retryAfter(header: string | string[] | undefined, now: () => number): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now()
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

// The registries of special addresses, RFC 6890 and its successors.
const special = networksOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['2001::/23', '2001:db8::/32', '3fff::/20']
])
const publicV6 = networksOf(['2000::/3', '64:ff9b::/96'])
/** Not even when the operator names them: link-local addresses, and those at which clouds serve credentials. */
const never = networksOf([
  '169.254.0.0/16',
  '100.100.100.200/32',
  '192.0.0.192/32',
  'fe80::/10',
  'fd00:ec2::254/128',
  '0.0.0.0/32',
  '::/128',
  '224.0.0.0/4',
  'ff00::/8'
])
const loopback = networksOf(['127.0.0.0/8', '::1/128'])
