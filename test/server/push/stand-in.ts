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
