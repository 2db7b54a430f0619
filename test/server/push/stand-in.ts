import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { Test } from 'tap'

export interface Request {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Answer {
  status?: number
  headers?: Record<string, string>
  text?: string
}

export interface StandIn {
  url: string
  port: number
  requests: Request[]
  /** What the next requests are answered with; `never` keeps them waiting, `endless` sends an answer that does not end. */
  answer: (request: Request) => Answer | 'never' | 'endless'
  /** Resolves once so many requests came in all. */
  came(count: number): Promise<Request[]>
  close(): Promise<void>
}

/** A service on loopback, in the place of one that delivers notifications. */
export async function startStandIn(t: Pick<Test, 'teardown'>, port = 0): Promise<StandIn> {
  let wake = () => {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const came = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }
    standIn.requests.push(came)
    wake()
    const answer = standIn.answer(came)
    if (answer === 'never') return
    if (answer === 'endless') {
      response.writeHead(200)
      const more = () => response.write(Buffer.alloc(8 * 1024, 'x')) && setImmediate(more)
      response.on('drain', more).on('error', () => {})
      more()
      return
    }
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.text ?? '')
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const heard = typeof address === 'object' && address ? address.port : 0
  const standIn: StandIn = {
    url: `http://127.0.0.1:${heard}`,
    port: heard,
    requests: [],
    answer: () => ({}),
    async came(count) {
      while (standIn.requests.length < count) await new Promise<void>(resolve => (wake = resolve))
      return standIn.requests
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return standIn
}

/** A token such as `Ntfy[…]` with these fields. */
export function tokenOf(prefix: string, fields: object): string {
  return `${prefix}[${Buffer.from(JSON.stringify(fields)).toString('base64url')}]`
}

/** A browser with a subscription: what RFC 8291 says of the receiver, without any library. */
export function browser() {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  const auth = randomBytes(16)
  return {
    keys: { p256dh: pair.getPublicKey('base64url'), auth: auth.toString('base64url') },
    open(body: Buffer): {
      web_push: number
      notification: { data: { notice: string; receipt: string; preview?: string } } & Record<string, unknown>
      mutable: boolean
    } {
      const salt = body.subarray(0, 16)
      const sender = body.subarray(21, 21 + (body[20] ?? 0))
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), sender])
      const ikm = Buffer.from(hkdfSync('sha256', pair.computeSecret(sender), auth, info, 32))
      const derive = (name: string, length: number) =>
        Buffer.from(hkdfSync('sha256', ikm, salt, Buffer.from(`Content-Encoding: ${name}\0`), length))
      const sealed = body.subarray(21 + sender.length)
      const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
      decipher.setAuthTag(sealed.subarray(-16))
      const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString())
    }
  }
}
