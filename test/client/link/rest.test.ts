import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { fetch as undiciFetch } from 'undici'
import { createRest, mayRetry, Refused, type Rest } from '../../../lib/client/index.ts'
import { fetch as wrapperFetch } from '../../../lib/wrapper/uplink/network.ts'
import { startWorld } from '../world.ts'

/** A server that answers everything in one way. */
async function restAgainst(t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Rest> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return createRest({ server: `http://127.0.0.1:${port}/base/`, token: 'secret', fetch, connectionId: () => 'c7' })
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    error => error
  )
}

for (const [name, own] of [
  ['the global fetch', fetch],
  ["undici's", undiciFetch],
  ["the wrapper's", wrapperFetch]
] as const) {
  t.test(`requests to the real server with ${name} return typed answers`, async t => {
    const world = await startWorld(t)
    const rest = createRest({ server: `${world.url}/`, token: world.token, fetch: own })
    const { session } = await world.openSession()
    await rest.call('appendMessages', { params: { id: session.id }, body: { messages: [{ localId: 'a', content: 'aGk=' }] } })
    const page = await rest.call('readMessages', { params: { id: session.id }, query: { after_seq: 0, limit: 10 } })
    t.match(page, { messages: [{ seq: 1, localId: 'a', content: { t: 'encrypted', c: 'aGk=' } }], hasMore: false })
  })
}

t.test("an error has its status and the server's message", async t => {
  const world = await startWorld(t)
  const error = await failureOf(world.rest.call('readMessages', { params: { id: 'nobody' } }))
  t.match(error, { name: 'Refused', status: 404, code: 'Session not found' })
  t.notOk(mayRetry(error))
  const stranger = createRest({ server: world.url, token: 'nobody', fetch })
  t.match(await failureOf(stranger.call('listSessions', {})), { name: 'Refused', status: 401, code: 'Invalid token' })
})

t.test('path segments are percent-encoded, headers identify the client, and only writes name their connection [S3]', async t => {
  const seen: { url: string | undefined; headers: IncomingMessage['headers'] }[] = []
  const rest = await restAgainst(t, ({ url, headers }, response) => {
    seen.push({ url, headers })
    response.end('{"success":true,"messages":[],"hasMore":false,"deliveredSeq":1,"readSeq":1}')
  })
  await rest.call('removePushToken', { params: { token: 'Expo[a/b?]' } })
  await rest.call('readMessages', { params: { id: 's 1' }, query: { before_seq: 5 } })
  await rest.call('markReceipts', { params: { id: 's1' }, body: { deliveredSeq: 1, readSeq: 1 } })
  t.match(seen, [
    { url: '/base/v1/push-tokens/Expo%5Ba%2Fb%3F%5D', headers: { authorization: 'Bearer secret', 'x-connection-id': 'c7' } },
    { url: '/base/v3/sessions/s%201/messages?before_seq=5', headers: { authorization: 'Bearer secret' } },
    { headers: { 'x-connection-id': 'c7', 'content-type': 'application/json' } }
  ])
  t.notOk(seen[1]?.headers['x-connection-id'])
  t.notOk(seen[0]?.headers['content-type'], 'there is no body')
})

t.test('a rejected token is renewed once, and only if it was rejected as one', async t => {
  const asked: (string | undefined)[] = []
  const renewals: string[] = []
  let status = 401
  const { server } = await restAgainst(t, ({ headers: { authorization } }, response) => {
    asked.push(authorization)
    const isNew = authorization === 'Bearer new'
    response.writeHead(isNew ? 200 : status).end(isNew ? '{"sessions":[]}' : '{"error":"no"}')
  })
  const ask = (renewed: string) => {
    const token = {
      token: async () => 'old',
      renew: async (refused: string) => {
        renewals.push(refused)
        return renewed
      }
    }
    return failureOf(createRest({ server, token, fetch }).call('listSessions', {}))
  }
  t.equal(await ask('new'), undefined)
  t.strictSame(asked.splice(0), ['Bearer old', 'Bearer new'])
  t.match(await ask('old'), { name: 'Refused', status: 401 })
  t.strictSame(asked.splice(0), ['Bearer old'], 'with no other token there is nothing to try')
  t.match(await ask('older'), { name: 'Refused', status: 401 })
  t.strictSame(asked.splice(0), ['Bearer old', 'Bearer older'], 'the renewed one is not renewed again')
  t.strictSame(renewals.splice(0), ['old', 'old', 'old'])
  for (status of [400, 403, 503]) t.match(await ask('new'), { status })
  t.strictSame(asked, ['Bearer old', 'Bearer old', 'Bearer old'])
  t.strictSame(renewals, [])
})

interface Case {
  status: number
  body?: string
  headers?: Record<string, string>
  is: object
  retry: boolean
}

const cases: Record<string, Case> = {
  'trouble in the server': {
    status: 503,
    body: '{"error":"x"}',
    is: { name: 'Unreachable', reason: 'server-error', status: 503 },
    retry: true
  },
  'an error in the server': { status: 500, body: '<html>', is: { name: 'Unreachable', reason: 'server-error', status: 500 }, retry: true },
  'a full disk': { status: 507, body: '{"error":"x"}', is: { name: 'Unreachable', status: 507 }, retry: true },
  'a request for patience': {
    status: 429,
    body: '{"error":"slow down"}',
    headers: { 'retry-after': '7' },
    is: { name: 'Refused', status: 429, retryAfterMs: 7000 },
    retry: true
  },
  'a proxy that asks for patience': {
    status: 429,
    body: '<html>',
    headers: { 'retry-after': '7' },
    is: { name: 'Refused', status: 429, code: 'Too Many Requests', retryAfterMs: 7000 },
    retry: true
  },
  'a page that is not ours': { status: 200, body: '<html>', is: { name: 'Unreachable', reason: 'strange-answer' }, retry: true },
  'an answer of another shape': { status: 200, body: '{"sessions":1}', is: { name: 'Unreachable', reason: 'strange-answer' }, retry: true },
  'a not-found of a proxy': { status: 404, body: '<html>', is: { name: 'Unreachable', reason: 'strange-answer' }, retry: true },
  'a proxy with a smaller limit': { status: 413, body: '<html>', is: { name: 'Refused', status: 413 }, retry: false },
  'our own refusal': { status: 409, body: '{"error":"no"}', is: { name: 'Refused', status: 409, code: 'no' }, retry: false }
}

for (const [name, { status, body, headers, is, retry }] of Object.entries(cases)) {
  t.test(`${name} is reported by kind, and whether to retry`, async t => {
    const rest = await restAgainst(t, (_, response) => response.writeHead(status, headers).end(body))
    const error = await failureOf(rest.call('listSessions', {}))
    t.match(error, is)
    t.equal(mayRetry(error), retry)
  })
}

t.test('a Retry-After date counts from now', async t => {
  const rest = await restAgainst(t, (_, response) =>
    response.writeHead(429, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }).end('{"error":"x"}')
  )
  const error = await failureOf(rest.call('listSessions', {}))
  t.ok(error instanceof Refused && (error.retryAfterMs ?? 0) > 50_000 && (error.retryAfterMs ?? 0) <= 60_000)
})

t.test('silence, even after half an answer, ends at the timeout', async t => {
  const silent = await restAgainst(t, () => {})
  t.match(await failureOf(silent.call('listSessions', {}, { timeoutMs: 20 })), { name: 'Unreachable', reason: 'timeout' })
  const halting = await restAgainst(t, (_, response) => void response.writeHead(200).write('{"sess'))
  t.match(await failureOf(halting.call('listSessions', {}, { timeoutMs: 200 })), { name: 'Unreachable', reason: 'timeout' })
})

t.test("an unreachable address is a network failure, and the caller's abort is an abort", async t => {
  const rest = createRest({ server: 'http://127.0.0.1:1', fetch })
  const error = await failureOf(rest.call('listSessions', {}))
  t.match(error, { name: 'Unreachable', reason: 'network', cause: Error })
  const silent = await restAgainst(t, () => {})
  const controller = new AbortController()
  const call = silent.call('listSessions', {}, { signal: controller.signal })
  const reason = new Error('closing')
  controller.abort(reason)
  t.equal(await failureOf(call), reason)
})
