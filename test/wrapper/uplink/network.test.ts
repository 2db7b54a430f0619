import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import t, { type Test } from 'tap'
import { createRest } from '../../../lib/client/index.ts'
import { downloadAttachment, uploadAttachment } from '../../../lib/client/outbox/attachments.ts'
import { fetch, watchNetwork } from '../../../lib/wrapper/uplink/network.ts'
import { startWorld } from '../../client/world.ts'
import { openSlowUplink } from '../../kit/slow-uplink.ts'

t.test('a new address and a wake-up count as the network returning; a lost address and a busy computer do not', t => {
  let addresses = ['192.0.2.7']
  let now = 0
  let look = () => {}
  let returns = 0
  let isStopped = false
  const stop = watchNetwork(() => returns++, {
    addresses: () => addresses,
    now: () => now,
    every(ms, then) {
      t.equal(ms, 2_000)
      look = then
      return () => {
        isStopped = true
      }
    }
  })
  const seenAfter = (ms: number, ...found: string[]) => {
    now += ms
    addresses = found
    look()
    return returns
  }
  t.equal(seenAfter(2_000, '192.0.2.7'), 0)
  t.equal(seenAfter(2_000), 0, 'the cable was pulled')
  t.equal(seenAfter(2_000, '192.0.2.7'), 1, 'and is back')
  t.equal(seenAfter(9_000, '192.0.2.7'), 1, 'late, and no more')
  t.equal(seenAfter(2_000, '192.0.2.7', '2001:db8::1'), 2)
  t.equal(seenAfter(3_600_000, '192.0.2.7'), 3, 'it slept')
  stop()
  t.ok(isStopped)
  t.end()
})

t.test('a system that reports no address is not an error', t => {
  const { networkInterfaces } = os
  os.networkInterfaces = () => {
    throw new Error('uv_interface_addresses returned Unknown system error 13')
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    os.networkInterfaces = networkInterfaces
    syncBuiltinESMExports()
  })
  const stop = watchNetwork(() => {})
  stop()
  t.end()
})

async function answering(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const asked = (url: string) => createRest({ server: url, token: 'secret', fetch })
const request = { method: 'GET', headers: {} }

t.test('a file is uploaded and downloaded over an interrupted line, byte for byte [N9]', async t => {
  const { url, token, openSession } = await startWorld(t)
  const { session } = await openSession()
  const linkOver = (server: string) => ({ rest: createRest({ server, token, fetch }), token, fetch })
  const line = await openSlowUplink(t, url, { bytesPerSecond: 4_000_000, cutAfter: [100_000, 200_000] })
  const bytes = randomBytes(400_000)
  const ref = await uploadAttachment(linkOver(line.url), session.id, bytes)
  t.ok(bytes.equals(await downloadAttachment(linkOver(url), ref)))
})

t.test('characters split across chunks stay whole, and header names are case-insensitive', async t => {
  const words = Buffer.from('{"öäü":"日本"}')
  let rest: (() => void) | undefined
  const url = await answering(t, (_, response) => {
    if (rest) {
      rest()
      response.end()
    } else {
      response.setHeader('Retry-After', '7')
      response.write(words.subarray(0, 3))
      rest = () => response.end(words.subarray(3))
    }
  })
  const answer = await fetch(url, request)
  t.equal(answer.headers.get('Retry-After'), '7')
  t.equal(answer.headers.get('etag'), null)
  const text = answer.text()
  await fetch(url, request)
  t.equal(await text, String(words))
})

t.test('half an answer is not an answer', async t => {
  const url = await answering(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('{"sessions":[]}', () => response.destroy())
  })
  await t.rejects(asked(url).call('listSessions', {}), { name: 'Unreachable', reason: 'network' })
})

t.test('a redirect is followed without the token, and not for a file', async t => {
  const elsewhere: string[] = []
  const other = await answering(t, ({ url = '' }, response) => {
    elsewhere.push(url)
    response.end('{"sessions":[]}')
  })
  const url = await answering(t, (_, response) => response.writeHead(302, { location: other }).end('moved'))
  await t.rejects(asked(url).call('listSessions', {}), { name: 'Unreachable', reason: 'strange-answer' })
  const leaving = new AbortController()
  let asks = 0
  const link = {
    rest: asked(url),
    token: 'secret',
    fetch: (...of: Parameters<typeof fetch>) => {
      asks += 1
      if (asks === 2) leaving.abort()
      return fetch(...of)
    }
  }
  await t.rejects(downloadAttachment(link, 'sessions/s/attachments/a.enc', { signal: leaving.signal }))
  t.same(elsewhere, [])
})

t.test('one connection serves many requests, and an aborted one closes at once', async t => {
  const ports = new Set<number | undefined>()
  const url = await answering(t, (request, response) => {
    ports.add(request.socket.remotePort)
    if (request.url === '/') response.end('{}')
  })
  for (let count = 0; count < 3; count++) await (await fetch(url, request)).text()
  t.equal(ports.size, 1)
  const leaving = new AbortController()
  const left = fetch(`${url}/silent`, { ...request, signal: leaving.signal })
  leaving.abort()
  await t.rejects(left, { name: 'AbortError' })
})
