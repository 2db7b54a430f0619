import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'
import type { ServerOptions } from '../options.ts'
import { certificate, examineRejected, isAboutCertificate } from './certificate.ts'
import { codeOf } from './error-code.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { examineProxy, recipes } from './proxy.ts'
import type { Serving } from './store.ts'

const waitMs = 8_000
/** With a larger difference, phones and servers eventually reject each other's certificates. */
const mostSkewMs = 60_000

type Address = Pick<ServerOptions, 'data' | 'host' | 'port' | 'publicUrl' | 'https' | 'tlsCert'>

/** What a phone sees: the address, its certificate, WebSocket, and the clock of the server. */
export async function examineAddress(options: Address, serving: Serving, now: () => number): Promise<Finding[]> {
  const url = options.publicUrl ?? serving.url ?? ownUrl(options)
  try {
    const { answer, expiresAt } = await get(new URL('health', `${url}/`))
    if (!serving.mayRun && options.publicUrl === undefined && answer.statusCode === 200) return [otherServer(url, options.data)]
    return [
      reached(url, answer),
      clock(answer, now()),
      ...(expiresAt === undefined ? [] : [certificate(expiresAt, now())]),
      await sockets(url),
      ...(isProxied(options) && answer.statusCode === 200 ? await examineProxy(url) : [])
    ]
  } catch (error) {
    const of = options.publicUrl === undefined ? 'own address' : 'public address'
    const code = codeOf(error)
    if (isAboutCertificate(code)) return [await examineRejected(of, new URL(url), code)]
    return [fail(of, `${url} is not responding (${code})`, adviceOn(code))]
  }
}

/** HTTPS that the server does not speak itself. */
function isProxied({ publicUrl, https, tlsCert }: Address): boolean {
  return tlsCert === undefined && https === 'off' && publicUrl?.startsWith('https:') === true
}

function ownUrl({ host, port, tlsCert }: Address): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tlsCert === undefined ? 'http' : 'https'}://${name}:${port}`
}

function reached(url: string, answer: IncomingMessage): Finding {
  if (answer.statusCode === 200) return ok('address', `${url} answers`)
  return fail('address', `${url}/health answers ${answer.statusCode}`, adviceOnStatus(answer.statusCode))
}

function otherServer(url: string, data: string): Finding {
  return warn(
    'address',
    `another server answers at ${url}: none is running on ${data}`,
    'Give the directory of that server with --data, or start this one on another --port'
  )
}

function adviceOnStatus(status: number | undefined): string {
  switch (status) {
    case 421:
      return `The server does not know this host name: start it with --public-url`
    case 502:
    case 504:
      return 'The proxy does not reach the server: start it, or correct the address to which the proxy forwards (nginx: proxy_pass)'
    case 503:
      return 'See the server’s log; if it is not running, a proxy answers for it'
    case 505:
      return `The proxy speaks HTTP/1.0 to the server (nginx: add proxy_http_version 1.1;); ${recipes()}`
    default:
      return 'Another program may be answering there; check the reverse proxy'
  }
}

function clock({ headers: { date } }: IncomingMessage, now: number): Finding {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return ok('clock', `${new Date(now).toISOString()}; nothing to compare it with`)
  const skew = Math.round((now - theirs) / 1000)
  if (Math.abs(now - theirs) <= mostSkewMs) return ok('clock', 'matches the clock at that address')
  return warn(
    'clock',
    `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the clock at that address`,
    'Synchronize it, for example with systemd-timesyncd'
  )
}

/** Whether a WebSocket opens, and what the server says first arrives. */
async function sockets(url: string): Promise<Finding> {
  const of = 'WebSocket'
  const passes = await opensSocket(new URL('v1/updates/?EIO=4&transport=websocket', `${url}/`)).catch(() => false)
  if (passes) return ok(of, 'passes')
  return fail(
    of,
    'blocked: the app and the wrapper need it',
    `Let the proxy forward it (nginx: proxy_set_header Upgrade $http_upgrade; and Connection); ${recipes()}`
  )
}

/** The notification service: any answer means that it can be reached. */
export async function examinePush({ expoUrl }: Pick<ServerOptions, 'expoUrl'>): Promise<Finding> {
  const of = 'notifications'
  if (expoUrl === 'off') return ok(of, 'off')
  return get(new URL(expoUrl)).then(
    () => ok(of, `${expoUrl} answers`),
    error => warn(of, `${expoUrl} is not responding (${codeOf(error)})`, 'Allow the server to reach it, or start it with --expo-url off')
  )
}

async function get(url: URL): Promise<{ answer: IncomingMessage; expiresAt: number | undefined }> {
  const [answer] = await once(ask(url).end(), 'response')
  const { socket } = answer
  const expiresAt = socket instanceof TLSSocket ? Date.parse(socket.getPeerCertificate().valid_to) : undefined
  socket.destroy()
  return { answer, expiresAt }
}

async function opensSocket(url: URL): Promise<boolean> {
  const asked = ask(url, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'YWZpZWxkIGRvY3RvciBoaQ=='
  })
  asked.once('response', () => asked.destroy(new Error('There is no upgrade.')))
  const [, socket, head] = await once(asked.end(), 'upgrade')
  const [first] = head.length > 0 ? [head] : await once(socket, 'data', { signal: AbortSignal.timeout(waitMs) })
  socket.destroy()
  return String(first).includes('"sid"')
}

function ask(url: URL, headers: Record<string, string> = {}): ClientRequest {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return request(url, { headers, agent: false, signal: AbortSignal.timeout(waitMs) })
}

function adviceOn(code: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'The host name does not resolve here: check --public-url and the DNS'
  if (code === 'ECONNREFUSED') return 'Nothing is listening there: start the server, or the reverse proxy'
  return 'Check the network, the firewall and the reverse proxy'
}
