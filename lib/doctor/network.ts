import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'
import type { ServerOptions } from '../options.ts'
import { codeOf } from './error-code.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const waitMs = 8_000
const day = 24 * 60 * 60 * 1000
/** With a larger difference, phones and servers eventually reject each other's certificates. */
const mostSkewMs = 60_000

type Address = Pick<ServerOptions, 'host' | 'port' | 'publicUrl' | 'tlsCert'>

/**
 * What a phone sees: the address, its certificate, WebSocket, and the clock of the server. `serving` is set
 * when a server is running.
 */
export async function examineAddress(options: Address, serving: string | undefined, now: () => number): Promise<Finding[]> {
  const url = options.publicUrl ?? serving ?? ownUrl(options)
  try {
    const { answer, expiresAt } = await get(new URL('health', `${url.replace(/\/$/, '')}/`))
    return [
      reached(url, answer),
      clock(answer, now()),
      ...(expiresAt === undefined ? [] : [certificate(expiresAt, now())]),
      await sockets(url)
    ]
  } catch (error) {
    const of = options.publicUrl === undefined ? 'own address' : 'public address'
    return [fail(of, `${url} is not responding (${codeOf(error)})`, adviceOn(codeOf(error)))]
  }
}

function ownUrl({ host, port, tlsCert }: Address): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tlsCert === undefined ? 'http' : 'https'}://${name}:${port}`
}

function reached(url: string, answer: IncomingMessage): Finding {
  if (answer.statusCode === 200) return ok('address', `${url} answers`)
  const advice = answer.statusCode === 503 ? 'See the server’s log' : 'Another program may be answering there; check the reverse proxy'
  return fail('address', `${url}/health answers ${answer.statusCode}`, advice)
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

/** The certificate file of a server that terminates TLS itself: it is served after the next reload. */
export function examineCertificate(file: string, now: number): Finding {
  try {
    return certificate(Date.parse(new X509Certificate(readFileSync(file)).validTo), now)
  } catch (error) {
    return fail('certificate', `${file} cannot be used (${codeOf(error)})`, 'Give the file with the certificate chain in --tls-cert')
  }
}

export function certificate(expiresAt: number, now: number): Finding {
  const days = Math.floor((expiresAt - now) / day)
  const until = new Date(expiresAt).toISOString().slice(0, 10)
  if (days < 0) return fail('certificate', `expired on ${until}`, 'Renew it; the server reloads it without a restart')
  if (days < 14) return warn('certificate', `expires in ${days} days, on ${until}`, 'Renew it; the server reloads it without a restart')
  return ok('certificate', `valid until ${until}`)
}

async function sockets(url: string): Promise<Finding> {
  const of = 'WebSocket'
  const socket = new URL('v1/updates/?EIO=4&transport=websocket', `${url.replace(/\/$/, '')}/`)
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'YWZpZWxkIGRvY3RvciBoaQ=='
  }
  const passes = await get(socket, headers).then(
    ({ answer }) => answer.statusCode === 101,
    () => false
  )
  if (passes) return ok(of, 'passes')
  return warn(of, 'blocked; clients fall back to long-polling', 'Configure the reverse proxy to forward the headers Upgrade and Connection')
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

function get(url: URL, headers: Record<string, string> = {}): Promise<{ answer: IncomingMessage; expiresAt: number | undefined }> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest
    const asked = request(url, { headers, agent: false, signal: AbortSignal.timeout(waitMs) })
    const done = (answer: IncomingMessage) => {
      const { socket } = answer
      const expiresAt = socket instanceof TLSSocket ? Date.parse(socket.getPeerCertificate().valid_to) : undefined
      socket.destroy()
      resolve({ answer, expiresAt })
    }
    asked.once('response', done).once('upgrade', done).on('error', reject).end()
  })
}

function adviceOn(code: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'The host name does not resolve here: check --public-url and the DNS'
  if (code === 'ECONNREFUSED') return 'Nothing is listening there: start the server, or the reverse proxy'
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return 'Phones will not trust this certificate either: use one for this name'
  return 'Check the network, the firewall and the reverse proxy'
}
