import t, { type Test } from 'tap'
import { systemClock } from '../../../lib/async/clock.ts'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import type { Rest } from '../../../lib/client/link/rest.ts'
import { type AttachmentLink, downloadAttachment, isRefOf, uploadAttachment } from '../../../lib/client/outbox/attachments.ts'
import { cryptoReady, engine, toBase64Url } from '../../../lib/crypto/index.ts'

// In a file of its own: here the time is the test's, and the transfers of `attachments.test.ts` run at once.
t.before(() => cryptoReady())

const kB = 1024
const fresh = `sessions/s/attachments/${crypto.randomUUID()}.enc`

/** A server that stores what it is sent, unless the test lets it do otherwise. */
function storing(size: number, { offset = 0, known = size } = {}) {
  let stored = offset
  const asked: string[] = []
  const parts: [at: number, length: number][] = []
  const store = (at: number, length: number) => {
    stored = at + length
    return Response.json({ offset: stored })
  }
  const world = {
    asked,
    parts,
    bytes: new Uint8Array(size).fill(7),
    /** What the next requests beside the parts fail with. */
    failures: [] as Error[],
    get stored() {
      return stored
    },
    set stored(now: number) {
      stored = now
    },
    answer: (_nth: number, at: number, length: number): Response => store(at, length),
    store,
    link: {} as AttachmentLink
  }
  const rest = {
    server: 'http://home.example',
    async call(name: string, { body }: { body?: object }) {
      asked.push(body ? `${name} ${JSON.stringify(body)}` : name)
      const failure = name === 'requestUpload' ? undefined : world.failures.shift()
      if (failure) throw failure
      if (name === 'requestUpload') return { ref: fresh }
      return { offset: stored, size: known, complete: stored >= size }
    }
  } as unknown as Rest
  world.link = {
    rest,
    token: 'secret',
    async fetch(url, { method, headers, body }) {
      const [, at] = /^http:..home.example.v1.sessions.s.attachments.[\w-]+\.enc.upload.at=(\d+)$/.exec(url) ?? []
      t.match({ method, headers }, { method: 'PUT', headers: { authorization: 'Bearer secret' } })
      parts.push([Number(at), body?.length ?? 0])
      return world.answer(parts.length, Number(at), body?.length ?? 0)
    }
  }
  return world
}

const upload = (world: ReturnType<typeof storing>, options: Parameters<typeof uploadAttachment>[3] = {}) =>
  uploadAttachment(world.link, 's' as never, world.bytes, options)

t.test('a quick connection is given larger parts, a slow one smaller ones, and the whole is confirmed [N9]', async t => {
  let tookMs = 999
  let now = 0
  const clock = t.intercept(performance, 'now', { value: () => now })
  for (const [ms, sizes] of [
    [999, [64, 128, 256, 256, 16]],
    [1000, [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 16]],
    [4000, [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 16]],
    [4001, [64, 32, 16, ...Array(76).fill(8)]]
  ] as const) {
    tookMs = ms
    const world = storing(720 * kB)
    world.answer = (_, at, length) => {
      now += tookMs
      return world.store(at, length)
    }
    t.equal(await upload(world), fresh)
    t.strictSame(
      world.parts.map(([, length]) => length / kB),
      sizes
    )
    const sha256 = toBase64Url(engine.sha256(world.bytes))
    t.strictSame(world.asked, [`requestUpload {"size":${720 * kB}}`, `finishUpload {"sha256":"${sha256}"}`])
  }
  clock()
})

t.test('after a part that was lost the server says where to continue, with smaller parts [N9]', async t => {
  const waits = quickClock(t)
  const lost: Record<string, (world: ReturnType<typeof storing>) => Response> = {
    'the network': () => {
      throw new Error('reset')
    },
    'a server that fails': () => Response.json({ error: 'no' }, { status: 503 }),
    'a failure that breaks off': () =>
      new Response(new ReadableStream({ pull: stream => stream.error(new Error('reset')) }), { status: 503 }),
    'an answer that is none': () => new Response('<html>'),
    'a page of a proxy': () => new Response('<html>', { status: 404 })
  }
  for (const [name, fails] of Object.entries(lost)) {
    const world = storing(96 * kB)
    world.answer = (nth, at, length) => {
      if (nth > 1) return world.store(at, length)
      world.stored = 40 * kB
      return fails(world)
    }
    const told: number[] = []
    await upload(world, { onProgress: at => told.push(at / kB) })
    t.strictSame(
      world.parts,
      [
        [0, 64 * kB],
        [40 * kB, 32 * kB],
        [72 * kB, 24 * kB]
      ],
      name
    )
    t.strictSame(told, [40, 72, 96])
  }
  t.equal(waits().length, 5)
})

t.test('an upload without progress is given up after eight attempts, and any progress counts anew [N9]', async t => {
  const waits = quickClock(t)
  const fails = () => Response.json({ error: 'no' }, { status: 503 })
  const stuck = storing(96 * kB)
  stuck.answer = fails
  await t.rejects(upload(stuck), { name: 'Unreachable', reason: 'server-error', status: 503 })
  t.equal(stuck.parts.length, 8)
  t.equal(stuck.parts.at(-1)?.[1], 8 * kB, 'at least that much')
  t.equal(waits().length, 7)
  const slow = storing(96 * kB)
  slow.answer = (nth, at, length) => (nth === 8 ? slow.store(at, length) : nth < 15 ? fails() : slow.store(at, length))
  await upload(slow)
  t.equal(slow.stored, 96 * kB)

  const refusing = storing(96 * kB)
  refusing.answer = () => new Response('<html>', { status: 404 })
  await t.rejects(upload(refusing), { name: 'Unreachable', reason: 'strange-answer', status: 404 })
  refusing.parts.length = 0
  refusing.answer = () => Response.json({ error: 'Too large' }, { status: 413 })
  await t.rejects(upload(refusing), { name: 'Refused', status: 413, code: 'Too large' })
  t.equal(refusing.parts.length, 1)
})

t.test('a whole upload is confirmed when the server answers again, and not if it refuses [N9]', async t => {
  const waits = quickClock(t)
  const world = storing(8 * kB)
  world.failures = [new Unreachable('network'), new Unreachable('network')]
  t.equal(await upload(world), fresh)
  t.equal(waits().length, 2)
  t.equal(world.parts.length, 1)
  world.failures = [new Refused(400, 'Other bytes')]
  await t.rejects(upload(world), { name: 'Refused', status: 400 })
  t.equal(waits().length, 2)

  const begun = `sessions/s/attachments/${crypto.randomUUID()}.enc`
  world.failures = [new Refused(404, 'Not found')]
  t.equal(await upload(world, { begun }), fresh, 'one that the server has dropped begins again')
  world.failures = [new Refused(401, 'Invalid token')]
  await t.rejects(upload(world, { begun }), { name: 'Refused', status: 401 })
})

t.test('an upload begun before goes on where it stands, if it is of the same bytes [N9]', async t => {
  const begun = `sessions/s/attachments/${crypto.randomUUID()}.enc`
  const told: string[] = []
  const onBegun = (ref: string) => void told.push(ref)
  const half = storing(96 * kB, { offset: 40 * kB })
  t.equal(await upload(half, { begun, onBegun }), begun)
  t.equal(half.parts[0]?.[0], 40 * kB)
  const other = storing(96 * kB, { offset: 40 * kB, known: 90 * kB })
  t.equal(await upload(other, { begun, onBegun }), fresh)
  t.equal(other.parts[0]?.[0], 0)
  t.strictSame(told, [begun, fresh])
  const elsewhere = storing(96 * kB)
  elsewhere.answer = (nth, at, length) => (nth === 1 ? Response.json({ offset: 80 * kB }, { status: 409 }) : elsewhere.store(at, length))
  await upload(elsewhere)
  t.strictSame(elsewhere.parts[1], [80 * kB, 16 * kB], 'another process had uploaded more')
})

t.test('a cancelled transfer breaks off the request that is under way, and makes no other', async t => {
  quickClock(t)
  const begun = `sessions/s/attachments/${crypto.randomUUID()}.enc`
  const transfers: Record<string, (world: ReturnType<typeof storing>, signal: AbortSignal) => Promise<unknown>> = {
    readUpload: (world, signal) => upload(world, { begun, signal }),
    requestUpload: (world, signal) => upload(world, { signal }),
    PUT: (world, signal) => upload(world, { signal }),
    finishUpload: (world, signal) => upload(world, { signal }),
    GET: ({ link }, signal) => downloadAttachment(link, fresh, { signal })
  }
  for (const [step, transfer] of Object.entries(transfers)) {
    const world = storing(8 * kB)
    const { rest, fetch } = world.link
    const controller = new AbortController()
    const reason = new Error(`cancelled at ${step}`)
    const asked: string[] = []
    const ask = (name: string, signal: AbortSignal | undefined) => {
      asked.push(name)
      if (name === step) controller.abort(reason)
      signal?.throwIfAborted()
    }
    const call = async (name: string, request: object, options?: { signal?: AbortSignal }) => {
      ask(name, options?.signal)
      return rest.call(name as never, request as never)
    }
    world.link = {
      ...world.link,
      rest: { ...rest, call: call as never },
      fetch: async (url, init) => {
        ask(init.method, init.signal)
        return fetch(url, init)
      }
    }
    await t.rejects(transfer(world, controller.signal), reason, step)
    t.equal(asked.at(-1), step)
    t.equal(asked.filter(name => name === step).length, 1)
  }
})

t.test('a download goes on however often it is cut, as long as each attempt brings something', async t => {
  const waits = quickClock(t)
  const { link } = storing(0)
  const told: unknown[] = []
  const ranges: (string | undefined)[] = []
  link.fetch = async (_url, { headers }) => {
    const nth = ranges.push(headers['range'])
    let isSent = false
    const pull = (stream: ReadableStreamDefaultController<Uint8Array>) => {
      if (!isSent) stream.enqueue(Uint8Array.of(nth))
      else if (nth === 12) stream.close()
      else stream.error(new Error('reset'))
      isSent = true
    }
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
  }
  const bytes = await downloadAttachment(link, fresh, { onProgress: (...at) => told.push(at) })
  t.same([...bytes], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  t.same(ranges.slice(0, 3), [undefined, 'bytes=1-', 'bytes=2-'])
  t.same(told.slice(-2), [
    [11, 11],
    [12, 12]
  ])
  t.ok(waits().every(ms => ms <= 250))
  let asked = 0
  link.fetch = async () => {
    asked++
    throw new Error('reset')
  }
  await t.rejects(downloadAttachment(link, fresh), { name: 'Unreachable', reason: 'network' })
  t.equal(asked, 8)
})

t.test('only a plain ref of its session is one, as the token is sent to it', t => {
  const refs: [ref: string, isRef: boolean][] = [
    ['sessions/s/attachments/a-1_B.enc', true],
    ['sessions/other/attachments/a.enc', false],
    ['session/s/attachments/a.enc', false],
    ['sessions/s/files/a.enc', false],
    ['sessions/s/attachments/a.enc/more', false],
    ['sessions/s/attachments/../a.enc', false],
    ['sessions/s/attachments/a?b.enc', false],
    ['sessions/s/attachments/a.enc?b', false],
    ['sessions/s/attachments/a.txt', false],
    ['sessions/s/attachments/', false],
    ['sessions/s/attachments', false]
  ]
  for (const [ref, isRef] of refs) t.equal(isRefOf('s', ref), isRef, ref)
  t.end()
})

/** Whose waits are over at once; returns how long they would have been. */
function quickClock(t: Test): () => number[] {
  const waits: number[] = []
  t.capture(systemClock, 'after', (ms: number, run: () => void) => {
    waits.push(ms)
    setImmediate(run)
    return () => {}
  })
  return () => waits
}
