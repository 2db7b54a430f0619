import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Test } from 'tap'
import type { Untyped } from './person.ts'

/** A request received by the stand-in. */
export interface PushRequest {
  path: string
  messages: Untyped[]
}

export interface PushProvider {
  url: string
  requests: PushRequest[]
  /** Answers like Expo; a test sets the result for a token, or for the whole request. */
  ticketFor: (token: string) => object
  answer: (request: PushRequest) => { status: number; text: string } | 'never'
  /** The next request received. */
  next(): Promise<PushRequest>
  close(): Promise<void>
}

/** A service that speaks Expo's push API over real HTTP. */
export async function startPushProvider(t: Test): Promise<PushProvider> {
  const waiting: ((request: PushRequest) => void)[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const came = { path: request.url ?? '', messages: JSON.parse(Buffer.concat(chunks).toString()) }
    provider.requests.push(came)
    for (const resolve of waiting.splice(0)) resolve(came)
    const answer = provider.answer(came)
    if (answer === 'never') return
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0

  const provider: PushProvider = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    ticketFor: () => ({ status: 'ok', id: crypto.randomUUID() }),
    answer: ({ messages }) => ({ status: 200, text: JSON.stringify({ data: messages.map(({ to }) => provider.ticketFor(to)) }) }),
    next: () => new Promise(resolve => waiting.push(resolve)),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  return provider
}
