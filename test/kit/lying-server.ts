import type { HttpResponse } from 'uWebSockets.js'
import type { Test } from 'tap'
import { loadUws } from '../../lib/server/edge/listen/uws.ts'

type Direction = 'to-server' | 'to-client'

/** One Socket.IO event or acknowledgement in transit: `42<ack>[name, payload]` or `43<ack>[payload]`. */
export interface Packet {
  readonly direction: Direction
  readonly type: 'event' | 'ack'
  /** The number of the requested or given acknowledgement. */
  readonly id: number | undefined
  readonly parts: unknown[]
}

/** The attacks of a malicious server. Omitted ones leave traffic unchanged. */
export interface Lies {
  /** The packets that replace this one; `send` sends more to the same side later. */
  packet?(packet: Packet, send: (packet: Packet) => void): Packet[]
  /** Another target for this request. */
  path?(path: string): string
  /** The body that the server gets instead. */
  body?(request: { method: string; path: string; body: unknown }): unknown
  /** The body that the client gets instead. */
  reply?(request: { method: string; path: string; body: unknown; token: string | undefined }, reply: unknown): unknown
}

/** A proxy in front of a real server that acts as a malicious one: it can read, change, withhold and replay all traffic. */
export async function startLyingServer(t: Pick<Test, 'teardown'>, target: string): Promise<{ url: string; lies: Lies }> {
  const liar: { url: string; lies: Lies } = { url: '', lies: {} }
  const upstreams = new Set<WebSocket>()
  const uws = loadUws()
  const app = uws.App()
  app.ws<{ path: string; upstream?: WebSocket; waiting: string[]; isOpen: boolean }>('/*', {
    maxPayloadLength: 16 * 1024 * 1024,
    upgrade(response, request, context) {
      const data = { path: `${request.getUrl()}?${request.getQuery()}`, waiting: [], isOpen: true }
      const header = (name: string) => request.getHeader(name)
      response.upgrade(data, header('sec-websocket-key'), header('sec-websocket-protocol'), header('sec-websocket-extensions'), context)
    },
    open(client) {
      const data = client.getUserData()
      const upstream = new WebSocket(target.replace(/^http/, 'ws') + data.path)
      upstreams.add(upstream)
      data.upstream = upstream
      const toClient = (text: string) => void (data.isOpen && client.send(text))
      upstream.addEventListener('open', () => {
        for (const text of data.waiting.splice(0)) upstream.send(text)
      })
      upstream.addEventListener('message', ({ data: text }) => {
        for (const each of through(String(text), 'to-client', packet => toClient(write(packet)))) toClient(each)
      })
      upstream.addEventListener('close', () => {
        upstreams.delete(upstream)
        if (data.isOpen) client.end()
      })
    },
    message(client, bytes) {
      const { upstream, waiting } = client.getUserData()
      const toServer = (text: string) => void (upstream?.readyState === WebSocket.OPEN ? upstream.send(text) : waiting.push(text))
      const text = Buffer.from(bytes).toString()
      for (const each of through(text, 'to-server', packet => toServer(write(packet)))) toServer(each)
    },
    close(client) {
      const data = client.getUserData()
      data.isOpen = false
      data.upstream?.close()
    }
  })
  app.any('/*', (response, request) => {
    let isOver = false
    response.onAborted(() => {
      isOver = true
    })
    const method = request.getMethod().toUpperCase()
    const path = request.getUrl() + (request.getQuery() ? `?${request.getQuery()}` : '')
    const headers: Record<string, string> = {}
    request.forEach((name, value) => {
      if (!unpassed.has(name)) headers[name] = value
    })
    let sent = Buffer.alloc(0)
    response.onData((chunk, isLast) => {
      sent = Buffer.concat([sent, Buffer.from(chunk)])
      if (isLast) void pass({ method, path, headers, sent }).then(reply => !isOver && answer(response, reply))
    })
  })

  async function pass(request: { method: string; path: string; headers: Record<string, string>; sent: Buffer }) {
    const { method, path, headers, sent } = request
    const told = readJson(sent)
    const body = told === undefined ? undefined : (liar.lies.body?.({ method, path, body: told }) ?? told)
    const to = { method, headers, ...(sent.length > 0 && { body: body === undefined ? new Uint8Array(sent) : JSON.stringify(body) }) }
    const reply = await fetch(target + (liar.lies.path?.(path) ?? path), to)
    const bytes = Buffer.from(await reply.arrayBuffer())
    const said = readJson(bytes)
    const token = headers['authorization']?.replace('Bearer ', '')
    const changed = said === undefined ? undefined : liar.lies.reply?.({ method, path, body: told, token }, said)
    return { reply, bytes: changed === undefined ? bytes : Buffer.from(JSON.stringify(changed)) }
  }

  function through(text: string, direction: Direction, send: (packet: Packet) => void): string[] {
    const packet = read(text, direction)
    return packet && liar.lies.packet ? liar.lies.packet(packet, send).map(write) : [text]
  }

  liar.url = await new Promise(resolve =>
    app.listen('127.0.0.1', 0, socket => {
      if (!socket) throw new Error('no port for the lying server')
      resolve(`http://127.0.0.1:${uws.us_socket_local_port(socket)}`)
    })
  )
  t.teardown(() => {
    for (const upstream of upstreams) upstream.close()
    app.close()
  })
  return liar
}

/** Headers of the connection to the proxy, not of the request. */
const unpassed = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'expect'])

function answer(response: HttpResponse, { reply, bytes }: { reply: Response; bytes: Buffer }): void {
  response.cork(() => {
    response.writeStatus(`${reply.status} ${reply.statusText}`)
    for (const [name, value] of reply.headers) if (!unpassed.has(name) && name !== 'content-encoding') response.writeHeader(name, value)
    response.end(bytes)
  })
}

function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

function read(text: string, direction: Direction): Packet | undefined {
  const match = /^4([23])(\d*)(\[.*)$/s.exec(text)
  if (!match) return undefined
  const [, kind, id, parts] = match
  return { direction, type: kind === '2' ? 'event' : 'ack', id: id ? Number(id) : undefined, parts: JSON.parse(parts ?? '[]') }
}

function write({ type, id, parts }: Packet): string {
  return `4${type === 'event' ? 2 : 3}${id ?? ''}${JSON.stringify(parts)}`
}
