import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { Clock } from '../../../../lib/async/clock.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { call, type Person, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { exchange, openTcp, readAnswer } from '../../raw-http.ts'

const mib = 1024 * 1024
const day = 24 * 60 * 60_000

async function startWorld(t: Test, options: { now?: () => number; trustProxy?: string; clock?: Clock } = {}) {
  const server = await startServer(t, options)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  return { server, ada, session, at: `/v1/sessions/${session}/attachments` }
}

/** What an existing client does: asks for a place and is told where to put the bytes. */
async function request(ada: Person, session: string, size: number): Promise<{ ref: string; uploadUrl: string; path: string }> {
  const asked = await ada.call('POST', `/v1/sessions/${session}/attachments/request-upload`, { body: { filename: 'a.png', size } })
  return { ...asked.body, path: new URL(asked.body.uploadUrl).pathname }
}

function put(ada: Person, url: string, bytes: Uint8Array): Promise<Response> {
  const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'application/octet-stream' }
  return fetch(url, { method: 'PUT', headers, body: bytes.slice() })
}

async function get(ada: Person, url: string, range?: string) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${ada.token}`, ...(range !== undefined && { range }) } })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

async function upload(ada: Person, session: string, bytes: Uint8Array) {
  const place = await request(ada, session, bytes.length)
  const stored = await put(ada, place.uploadUrl, bytes)
  if (stored.status !== 200) throw new Error(`Storing was answered with ${stored.status}`)
  return place
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('base64url')

t.test('existing clients can upload and download an attachment', async t => {
  const { server, ada, session, at } = await startWorld(t)
  const bytes = randomBytes(700_000)
  const { status, body } = await ada.call('POST', `${at}/request-upload`, { body: { filename: '../x.png', size: bytes.length } })
  t.equal(status, 200)
  t.match(body, { ref: new RegExp(`^sessions/${session}/attachments/[0-9a-f-]{36}\\.enc$`), method: 'PUT' })
  t.equal(body.uploadUrl, `${server.url}/v1/${body.ref}`, 'clients send their token to the server they were configured with only')

  const stored = await put(ada, body.uploadUrl, bytes)
  t.same([stored.status, await stored.json()], [200, { ok: true }])
  const asked = await ada.call('POST', `${at}/request-download`, { body: { ref: body.ref } })
  t.same(asked, { status: 200, body: { downloadUrl: body.uploadUrl } })
  const { status: got, bytes: same, headers } = await get(ada, asked.body.downloadUrl)
  t.equal(got, 200)
  t.ok(same.equals(bytes))
  t.equal(headers.get('content-length'), String(bytes.length))
})

t.test("returned addresses begin as the caller's, not as the server's own name", async t => {
  const { server, ada, session } = await startWorld(t, { trustProxy: 'loopback' })
  const asked = async (host: string, more = '') => {
    const head = `POST /v1/sessions/${session}/attachments/request-upload HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${ada.token}\r\n`
    const raw = await exchange(t, server, `${head}${more}Connection: close\r\nContent-Length: 10\r\n\r\n{"size":1}`)
    return readAnswer(raw).body.uploadUrl
  }
  t.match(await asked(`localhost:${server.port}`), new RegExp(`^http://localhost:${server.port}/v1/`))
  t.match(await asked('127.0.0.1', 'X-Forwarded-Proto: https\r\n'), /^https:\/\/127\.0\.0\.1\/v1\//, 'as the trusted proxy says')
})

t.test('stored bytes are never rendered as a page [H7]', async t => {
  const { ada, session } = await startWorld(t)
  const { uploadUrl } = await upload(ada, session, Buffer.from('<script>alert(1)</script>'))
  const { headers } = await get(ada, uploadUrl)
  t.match(Object.fromEntries(headers), {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store'
  })
  t.equal((await fetch(uploadUrl)).status, 401)
})

t.test('a valid range is answered with it, an invalid one with everything or 416', async t => {
  const { ada, session } = await startWorld(t)
  const bytes = randomBytes(600_000)
  const { uploadUrl } = await upload(ada, session, bytes)
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=0-', 0, 600_000],
    ['bytes=262143-262145', 262_143, 262_146],
    ['bytes=300000-9999999', 300_000, 600_000],
    ['bytes=-5', 599_995, 600_000],
    ['bytes=-9999999', 0, 600_000]
  ] as const) {
    const answer = await get(ada, uploadUrl, range)
    t.equal(answer.status, 206, range)
    t.equal(answer.headers.get('content-range'), `bytes ${start}-${end - 1}/600000`)
    t.ok(answer.bytes.equals(bytes.subarray(start, end)), range)
  }
  for (const range of ['bytes=5-4', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=a-b']) {
    const answer = await get(ada, uploadUrl, range)
    t.equal(answer.status, 200, range)
    t.ok(answer.bytes.equals(bytes), range)
  }
  for (const range of ['bytes=600000-', 'bytes=-0']) t.equal((await get(ada, uploadUrl, range)).status, 416, range)
})

t.test('an oversized upload is rejected when announced [N2]', async t => {
  const { server, ada, session, at } = await startWorld(t)
  const announced = (size: unknown) => ada.call('POST', `${at}/request-upload`, { body: { filename: 'x', size } })
  t.equal((await announced(10 * mib)).status, 200)
  for (const size of [10 * mib + 1, -1, 1.5, '7', null]) t.equal((await announced(size)).status, 400, String(size))

  const { path, uploadUrl } = await request(ada, session, 10)
  t.equal((await put(ada, uploadUrl, new Uint8Array(10 * mib))).status, 200, 'exactly the limit')
  const { path: other } = await request(ada, session, 10)
  const head = `PUT ${other} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\n`
  const told = await exchange(t, server, `${head}Content-Length: ${10 * mib + 1}\r\n\r\n`)
  t.equal(readAnswer(told).status, 413)
  t.equal((await get(ada, server.url + other)).status, 404)
  t.equal((await get(ada, server.url + path)).status, 200)
})

t.test('a complete attachment never changes: the same bytes again succeed, others are rejected', async t => {
  const { ada, session } = await startWorld(t)
  const bytes = randomBytes(300_000)
  const { uploadUrl } = await upload(ada, session, bytes)
  t.equal((await put(ada, uploadUrl, bytes)).status, 200)
  t.equal((await put(ada, uploadUrl, randomBytes(300_000))).status, 409)
  t.ok((await get(ada, uploadUrl)).bytes.equals(bytes))
})

t.test('refs and names that are not ours do not resolve [N11]', async t => {
  const { server, ada, session, at } = await startWorld(t)
  const { ref } = await upload(ada, session, Buffer.from('mine'))
  const name = ref.split('/').at(-1) ?? ''
  const other = await ada.openSession()
  const asked = (ref: unknown) => ada.call('POST', `${at}/request-download`, { body: { ref } })
  t.same(await asked(ref.replace(session, other)), { status: 400, body: { error: 'Ref does not belong to this session' } })
  for (const bad of ['', '../x.enc', `../../${other}/attachments/${name}`, `${name}/`, `${name}\0`, name.toUpperCase(), 'x'.repeat(4000)]) {
    t.same(await asked(`sessions/${session}/attachments/${bad}`), { status: 400, body: { error: 'Invalid attachment ref' } }, bad)
  }
  t.equal((await asked(ref.replace(name, `${crypto.randomUUID()}.enc`))).status, 404)

  const names = [
    '..',
    '../..',
    '%2e%2e',
    '%2e%2e%2f',
    `..%2f${name}`,
    `${name}%00`,
    `%00${name}`,
    `.\\${name}`,
    `%5c${name}`,
    '%c0%ae%c0%ae',
    `${name}%20`,
    '.',
    '*'
  ]
  for (const bad of names) {
    for (const method of ['GET', 'PUT']) {
      const raw = `${method} ${at}/${bad} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
      const answer = await exchange(t, server, raw)
      t.match(answer, /^HTTP\/1.1 (400|404|405) /, `${method} ${bad}`)
      t.notMatch(answer, /mine/)
    }
  }
})

t.test('an attachment belongs to its session and is removed with it', async t => {
  const { server, ada, session, at } = await startWorld(t)
  const { uploadUrl, ref } = await upload(ada, session, randomBytes(5 * mib))
  const other = await ada.openSession()
  const kept = await upload(ada, other, Buffer.from('kept'))
  t.equal((await get(ada, uploadUrl.replace(session, other))).status, 404)
  const reading = await fetch(uploadUrl, { headers: { authorization: `Bearer ${ada.token}` } })
  await ada.call('DELETE', `/v1/sessions/${session}`)
  // What was begun ends, early or not, and nothing of the server with it.
  await reading.arrayBuffer().catch(() => {})
  t.equal((await get(ada, uploadUrl)).status, 404)
  t.equal((await ada.call('POST', `${at}/request-download`, { body: { ref } })).status, 404)
  t.equal((await put(ada, uploadUrl, Buffer.from('again'))).status, 404)
  t.equal((await ada.call('POST', `${at}/request-upload`, { body: { size: 1 } })).status, 404)
  t.equal((await get(ada, kept.uploadUrl)).bytes.toString(), 'kept')
  t.equal((await call(server, 'GET', '/health')).status, 200)
})

t.test('a partial upload resumes where it stopped, and is visible only once complete and verified', async t => {
  const { ada, session } = await startWorld(t)
  const bytes = randomBytes(400_000)
  const { path, uploadUrl } = await request(ada, session, bytes.length)
  const part = async (at: number, end: number) => {
    const response = await put(ada, `${uploadUrl}/upload?at=${at}`, bytes.subarray(at, end))
    return { status: response.status, body: (await response.json()) as { offset: number } }
  }
  t.same((await ada.call('GET', `${path}/upload`)).body, { offset: 0, size: 400_000, complete: false })
  t.same((await part(0, 65_536)).body, { offset: 65_536, size: 400_000, complete: false })
  t.same((await part(0, 65_536)).body.offset, 65_536, 'a repeat adds nothing')
  t.same((await part(30_000, 100_000)).body.offset, 100_000, 'what is known is passed over')
  t.same(await part(100_001, 100_002), { status: 409, body: { error: 'The upload is at another offset', offset: 100_000 } })
  t.equal((await part(100_000, 100_500)).body.offset, 100_000, 'crumbs are not kept')
  const finish = (sha: string) => ada.call('POST', `${path}/upload`, { body: { sha256: sha } })
  t.match(await finish(sha256(bytes)), { status: 409, body: { offset: 100_000 } })
  t.equal((await get(ada, uploadUrl)).status, 404, 'nobody sees a part')
  t.equal((await part(100_000, 400_000)).body.offset, 400_000)
  t.equal((await get(ada, uploadUrl)).status, 404, 'nor what nobody has checked')
  t.same(await finish(sha256(bytes)), { status: 200, body: { success: true } })
  t.same(await finish(sha256(bytes)), { status: 200, body: { success: true } })
  t.equal((await finish(sha256(Buffer.from('other')))).status, 409)
  t.ok((await get(ada, uploadUrl)).bytes.equals(bytes))
  t.same((await part(5, 50_000)).body, { offset: 400_000, size: 400_000, complete: true }, 'whoever comes late changes nothing')
})

t.test('bytes that do not match their digest are dropped, and the upload starts over', async t => {
  const { ada, session } = await startWorld(t)
  const bytes = randomBytes(10_000)
  const { path, uploadUrl } = await request(ada, session, bytes.length)
  await put(ada, `${uploadUrl}/upload?at=0`, randomBytes(10_000))
  t.match(await ada.call('POST', `${path}/upload`, { body: { sha256: sha256(bytes) } }), { status: 409, body: { offset: 0 } })
  await put(ada, `${uploadUrl}/upload?at=0`, bytes)
  t.equal((await ada.call('POST', `${path}/upload`, { body: { sha256: sha256(bytes) } })).status, 200)
  t.ok((await get(ada, uploadUrl)).bytes.equals(bytes))
})

t.test('more bytes than announced are rejected, and the stored ones stay', async t => {
  const { ada, session } = await startWorld(t)
  const { path, uploadUrl } = await request(ada, session, 5000)
  t.equal((await put(ada, `${uploadUrl}/upload?at=0`, randomBytes(5001))).status, 413)
  t.equal((await put(ada, `${uploadUrl}/upload?at=0`, randomBytes(4500))).status, 200)
  t.equal((await ada.call('GET', `${path}/upload`)).body.offset, 4500)
})

t.test('the received part of an interrupted body is kept [N9]', async t => {
  const { server, ada, session } = await startWorld(t)
  const bytes = randomBytes(100_000)
  const { path, uploadUrl } = await request(ada, session, bytes.length)
  const socket = await openTcp(t, server)
  const head = `PUT ${path}/upload?at=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\nContent-Length: 100000\r\n\r\n`
  socket.write(head)
  await new Promise(done => socket.write(bytes.subarray(0, 70_000), done))
  socket.end()
  let offset = 0
  while (offset === 0) offset = (await ada.call('GET', `${path}/upload`)).body.offset
  t.equal(offset, 70_000)
  await put(ada, `${uploadUrl}/upload?at=70000`, bytes.subarray(70_000))
  t.equal((await ada.call('POST', `${path}/upload`, { body: { sha256: sha256(bytes) } })).status, 200)
  t.ok((await get(ada, uploadUrl)).bytes.equals(bytes))
})

t.test('a body sent byte by byte times out, and the received part is kept [N8]', async t => {
  const clock = manualClock()
  const { server, ada, session } = await startWorld(t, { clock })
  const bytes = randomBytes(100_000)
  const { path, uploadUrl } = await request(ada, session, bytes.length)
  const socket = await openTcp(t, server)
  const head = `PUT ${path}/upload?at=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\nContent-Length: 100000\r\n\r\n`
  socket.write(head)
  let sent = 5_000
  await new Promise(done => socket.write(bytes.subarray(0, sent), done))
  let answer = ''
  socket.on('data', data => {
    answer += data
  })
  const closed = once(socket, 'close')
  while (answer === '') {
    await call(server, 'GET', '/health')
    // Every few seconds a byte: the library would wait for more, however long.
    clock.advance(5_000)
    socket.write(bytes.subarray(sent, sent + 1))
    sent += 1
  }
  t.match(answer, /^HTTP\/1\.1 408 /)
  t.ok(clock.now() > 20_000 && clock.now() < 60_000, `after ${clock.now()} ms`)
  await closed
  const { offset } = (await ada.call('GET', `${path}/upload`)).body
  t.ok(offset >= 5_000, `${offset} bytes`)
  t.equal((await put(ada, `${uploadUrl}/upload?at=${offset}`, bytes.subarray(offset))).status, 200)
})

t.test('two concurrent uploads of the same file end complete or rejected, never mixed', async t => {
  const { ada, session } = await startWorld(t)
  for (const suffix of ['', '/upload?at=0']) {
    const [one, two] = [randomBytes(2 * mib), randomBytes(2 * mib)]
    const { path, uploadUrl } = await request(ada, session, one.length)
    await Promise.all([put(ada, uploadUrl + suffix, one), put(ada, uploadUrl + suffix, two)].map(sent => sent.catch(() => {})))
    if (suffix !== '') {
      const finish = (bytes: Uint8Array) => ada.call('POST', `${path}/upload`, { body: { sha256: sha256(bytes) } })
      if ((await finish(one)).status !== 200) continue
    }
    const { status, bytes } = await get(ada, uploadUrl)
    t.ok(status === 404 || bytes.equals(one) || bytes.equals(two), `with ${suffix}`)
  }
})

t.test('an upload without new bytes for a day is removed', async t => {
  const clock = manualClock()
  const { ada, session } = await startWorld(t, { clock, now: () => 1_000_000 + clock.now() })
  const { path, uploadUrl } = await request(ada, session, 20_000)
  clock.advance(day - 1)
  t.equal((await put(ada, `${uploadUrl}/upload?at=0`, randomBytes(10_000))).status, 200)
  clock.advance(day - 1)
  t.equal((await ada.call('GET', `${path}/upload`)).body.offset, 10_000)
  clock.advance(1)
  t.equal((await ada.call('GET', `${path}/upload`)).status, 404)
  t.equal((await put(ada, uploadUrl, randomBytes(10_000))).status, 404)
})

t.test('a clock that is wrong for a while, also at startup, removes no upload [C1]', async t => {
  const data = t.testdir()
  const clock = manualClock()
  let ahead = 0
  const start = () => startServer(t, { data, clock, now: () => 1e12 + clock.now() + ahead })
  let server = await start()
  const ada = await signUp(t, server)
  const { path, uploadUrl } = await request(ada, await ada.openSession(), 20_000)
  await put(ada, `${uploadUrl}/upload?at=0`, randomBytes(10_000))
  const state = async () => {
    const { status, body } = await call(server, 'GET', `${path}/upload`, { token: ada.token })
    return status === 200 ? body.offset : status
  }
  /** Leftovers are swept every ten minutes. */
  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 1) {
      // The store is asked for its time every 2 s, and an answer that took longer than a second does not count.
      for (const ms of [58_000, 2_000]) {
        clock.advance(ms)
        await state()
      }
    }
  }
  await pass(9)
  ahead = 3 * day
  await pass(3)
  t.equal(await state(), 10_000, 'while it serves')
  await server.close()
  server = await start()
  await pass(5)
  ahead = 0
  await pass(15)
  t.equal(await state(), 10_000, 'as it starts')
  ahead = 3 * day
  await pass(30)
  t.equal(await state(), 404, 'a date that stands counts')
})
