import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { failure } from '../../../../lib/protocol/wire/failures.ts'
import type { BytesOut } from '../../../../lib/protocol/wire/routes.ts'
import { Budget } from '../../../../lib/server/budget.ts'
import { AnswerSender, mostAtOnce } from '../../../../lib/server/edge/http/answer-sender.ts'
import { type ExchangeDeps, openExchange } from '../../../../lib/server/edge/http/exchange.ts'
import { WriteTurn } from '../../../../lib/server/edge/http/write-turn.ts'
import { loadUws } from '../../../../lib/server/edge/listen/uws.ts'
import { RowDamaged } from '../../../../lib/store/store.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { openTcp } from '../../raw-http.ts'

type Exchange = ReturnType<typeof openExchange>

/** Real HTTP on a free port, whose requests are handed to the test as exchanges, with notes of what else is told of them. */
async function serve(t: Test, handle: (exchange: Exchange) => void, given: Partial<ExchangeDeps> & { isHead?: boolean } = {}) {
  const notes: unknown[] = []
  const errors: unknown[] = []
  let open = 0
  let wake = () => {}
  let requests = 0
  const answers = new Budget(1_000_000)
  const deps = {
    corsOrigin: 'https://app.example',
    turn: new WriteTurn(t.error),
    answerSender: new AnswerSender({ clock: manualClock(), unread: new Budget(1_000_000), onError: t.error }),
    inFlight: {
      begin() {
        open += 1
        return () => {
          open -= 1
          wake()
        }
      }
    },
    answers,
    log: { isLevelEnabled: () => false },
    metrics: { requestAnswered: (route: string, status: unknown, ms: number) => notes.push([route, status, ms >= 0 && ms < 60_000]) },
    securityLog: { rejected: (what: unknown) => notes.push(what) },
    newRequestId: () => `r${++requests}`,
    onError: (...met: unknown[]) => errors.push(met),
    ...given
  } as unknown as ExchangeDeps
  const uws = loadUws()
  const app = uws.App()
  app.any('/*', (response, request) => {
    const isHead = request.getCaseSensitiveMethod() === 'HEAD'
    handle(
      openExchange(
        response,
        { route: 'aRoute', origin: request.getHeader('origin'), address: '192.0.2.7', ...(isHead && { isHead }) },
        deps
      )
    )
  })
  const { promise, resolve } = Promise.withResolvers<number>()
  app.listen('127.0.0.1', 0, socket => resolve(socket ? uws.us_socket_local_port(socket) : 0))
  const port = await promise
  t.teardown(() => app.close())
  /** All that came for one request on a connection of its own. */
  const ask = async (method = 'GET', headers = 'Connection: close\r\n') => {
    const socket = await openTcp(t, { port })
    socket.write(`${method} / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n', 2)
    return { head, body }
  }
  /** When no request is under way. */
  const settled = async () => {
    while (open > 0) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  return { port, notes, errors, answers, ask, settled, open: () => open }
}

const bytesOf = (bytes: Buffer, readFrom: BytesOut['readFrom'] = async at => bytes.subarray(at)): BytesOut => ({
  size: bytes.length,
  tag: 'tag',
  readFrom
})

t.test('an answer is JSON that no browser takes for a page, and is counted once', async t => {
  const lengths: number[] = []
  const { notes, ask, settled } = await serve(t, exchange => {
    lengths.push(exchange.answer({ status: 200, body: { a: 'é' } }))
    exchange.answer({ status: 200, body: 'again' })
  })
  const { head, body } = await ask()
  t.match(head, /^HTTP\/1.1 200 OK\r\n/)
  t.match(head, /\r\ncontent-type: application\/json; charset=utf-8\r\n/)
  t.match(head, /\r\ncache-control: no-store\r\n/)
  t.match(head, /\r\nx-content-type-options: nosniff\r\n/)
  t.notMatch(head, /access-control|retry-after|x-request-id/i)
  t.equal(body, '{"a":"é"}')
  t.same(lengths, ['{"a":"é"}'.length])
  await settled()
  t.same(notes, [['aRoute', 200, true]])
})

t.test('a page of another site gets the name of the site that may read the answer', async t => {
  const { ask } = await serve(t, exchange => exchange.answer({ status: 404, body: {}, retryAfterS: 7 }))
  const { head } = await ask('GET', 'Origin: https://other.example\r\nConnection: close\r\n')
  t.match(head, /^HTTP\/1.1 404 Not Found\r\n/)
  t.match(head, /\r\naccess-control-allow-origin: https:\/\/app\.example\r\n/)
  t.match(head, /\r\nretry-after: 7\r\n/)
})

t.test('HEAD is answered with the length of what GET would get, however large', async t => {
  for (const size of [5, mostAtOnce + 1]) {
    const { ask, settled, notes } = await serve(t, exchange => exchange.answer({ status: 200, body: 'é'.repeat(size), retryAfterS: 3 }))
    const { head, body } = await ask('HEAD')
    t.match(head, new RegExp(`\r\ncontent-length: ${2 * size + 2}(\r\n|$)`, 'i'))
    t.match(head, /\r\nretry-after: 3\r\n/)
    t.equal(body, '')
    await settled()
    t.same(notes, [['aRoute', 200, true]])
  }
})

t.test('a connection whose request was not read to its end is closed with the answer', async t => {
  for (const [status, line] of [
    [408, '408 Request Timeout'],
    [413, '413 Payload Too Large'],
    [503, '503 Service Unavailable']
  ] as const) {
    const { ask, settled } = await serve(t, exchange => exchange.answer({ status, body: {}, retryAfterS: 5 }))
    const { head, body } = await ask('GET', '')
    t.match(head, /\r\nconnection: close/i)
    t.match(head, new RegExp(`^HTTP/1.1 ${line}\r\n`))
    t.match(head, /\r\nretry-after: 5\r\n/)
    t.equal(body, '{}')
    await settled()
  }
  const { port } = await serve(t, exchange => exchange.answer({ status: 200, body: {} }))
  t.not((await fetch(`http://127.0.0.1:${port}`)).headers.get('connection'), 'close', 'and no other')
})

t.test('a large answer is sent in pieces, and counted for its account until it is read [B6]', async t => {
  const { answers, ask, settled, notes } = await serve(t, exchange => exchange.answer({ status: 404, body: 'x'.repeat(300_000) }, 'ada'))
  const { head, body } = await ask()
  t.match(head, /^HTTP\/1.1 404 Not Found\r\n/)
  t.match(head, /\r\ncontent-type: application\/json/)
  t.equal(body.length, 300_002)
  await settled()
  t.same(notes.splice(0), [['aRoute', 404, true]])
  const share = answers.share('ada')
  // So that it holds something else: otherwise it could exceed its half.
  t.ok(share.take(1))
  t.equal((await ask()).body.length, 300_002, 'what was read is held no longer')
  t.ok(share.take(250_000))
  t.match((await ask()).head, /^HTTP\/1.1 503 /, 'an account has half of the memory')
})

t.test('a large answer for which there is no memory is refused for now [B6]', async t => {
  const answers = new Budget(1)
  answers.share('ben').take(1)
  const { ask, notes, errors, settled } = await serve(t, exchange => exchange.answer({ status: 200, body: 'x'.repeat(300_000) }, 'ada'), {
    answers
  })
  const { head } = await ask()
  t.match(head, /^HTTP\/1.1 503 /)
  t.match(head, /\r\nretry-after: 5\r\n/)
  await settled()
  t.same(notes, [{ address: '192.0.2.7', route: 'aRoute', code: 'busy' }, ['aRoute', 503, true]])
  t.same(errors, [])
})

t.test('a reply that cannot be written as text is reported, and answered as a fault', async t => {
  const fault = new RangeError('Invalid string length')
  const lengths: number[] = []
  const { ask, errors } = await serve(t, exchange => {
    const body = {
      toJSON() {
        throw fault
      }
    }
    lengths.push(exchange.answer({ status: 200, body }))
  })
  const { head } = await ask()
  t.match(head, /^HTTP\/1.1 500 /)
  t.match(head, /\r\nx-request-id: r1\r\n/)
  t.same(errors, [[fault, { requestId: 'r1', route: 'aRoute' }]])
  t.same(lengths, [0])
})

t.test('a fault is reported with the id that its answer names, and nothing else of it [H4]', async t => {
  const fault = new TypeError('secret')
  const { ask, errors, notes, settled } = await serve(t, exchange => exchange.refuse(fault, 'ada'))
  const { head, body } = await ask()
  t.match(head, /^HTTP\/1.1 500 Internal Server Error\r\n/)
  t.match(head, /\r\nx-request-id: r1\r\n/)
  t.same(JSON.parse(body), { error: 'Internal Server Error', message: 'An unexpected error occurred', statusCode: 500 })
  t.same(errors, [[fault, { requestId: 'r1', route: 'aRoute' }]])
  await settled()
  t.same(notes, [['aRoute', 500, true]])
})

t.test('a refusal is noted for the operator, and reported only if it is damage', async t => {
  let error: unknown = failure('bad-token')
  const lengths: number[] = []
  const { ask, errors, notes, settled } = await serve(t, exchange => lengths.push(exchange.refuse(error)))
  t.match((await ask()).head, /^HTTP\/1.1 401 /)
  await settled()
  t.same(notes.splice(0), [{ address: '192.0.2.7', route: 'aRoute', code: 'bad-token' }, ['aRoute', 401, true]])
  t.same(lengths, [JSON.stringify({ error: 'Invalid token' }).length])
  t.same(errors, [])
  error = new RowDamaged('a row')
  const { head } = await ask()
  t.match(head, /^HTTP\/1.1 500 /)
  t.match(head, /\r\nx-request-id: r1\r\n/)
  t.same(errors, [[error, { requestId: 'r1', route: 'aRoute' }]])
  await settled()
  t.match(notes[0], { code: 'row-damaged' })
  error = failure('internal')
  t.notMatch((await ask()).head, /x-request-id/, 'what was not reported has no id')
})

t.test('bytes are answered whole or in the part asked for, and never as a page [H7]', async t => {
  const bytes = Buffer.from('0123456789'.repeat(20_000))
  let range = ''
  const lengths: number[] = []
  const { ask, notes, settled } = await serve(t, exchange => {
    lengths.push(exchange.answerBytes(bytesOf(bytes), range))
  })
  const whole = await ask()
  t.match(whole.head, /^HTTP\/1.1 200 OK\r\n/)
  t.match(whole.head, /\r\ncontent-disposition: attachment\r\n/)
  t.match(whole.head, /\r\netag: "tag"/)
  t.equal(whole.body, String(bytes))
  range = 'bytes=5-14'
  const part = await ask()
  t.match(part.head, /^HTTP\/1.1 206 Partial Content\r\n/)
  t.match(part.head, /\r\ncontent-range: bytes 5-14\/200000/)
  t.equal(part.body, '5678901234')
  range = 'bytes=200000-'
  t.match((await ask()).head, /^HTTP\/1.1 416 /)
  t.same(lengths, [bytes.length, 10, 0])
  await settled()
  t.same(notes, [
    ['aRoute', 200, true],
    ['aRoute', 206, true],
    { address: '192.0.2.7', route: 'aRoute', code: 'range-outside' },
    ['aRoute', 416, true]
  ])
})

t.test('an answer whose bytes cannot be read any more ends its connection, and only a fault is reported', async t => {
  let error: unknown = new TypeError('gone')
  const { ask, errors, settled } = await serve(t, exchange => {
    const readFrom = async (at: number) => {
      if (at > 0) throw error
      return Buffer.alloc(10)
    }
    exchange.answerBytes({ size: 20, tag: 'tag', readFrom }, '')
  })
  t.ok((await ask()).body.length < 20)
  await settled()
  t.same(errors, [[error, { requestId: 'r1', route: 'aRoute' }]])
  error = failure('attachment-not-found')
  t.ok((await ask()).body.length < 20)
  await settled()
  t.equal(errors.length, 1)
})

t.test('a client that disconnects ends what is done for it, and is counted as gone', async t => {
  const opened = Promise.withResolvers<Exchange>()
  const { port, notes, open, settled } = await serve(t, opened.resolve)
  const socket = await openTcp(t, { port })
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const exchange = await opened.promise
  const signal = exchange.gone()
  t.equal(exchange.gone(), signal)
  t.notOk(signal.aborted)
  t.notOk(exchange.client.isGone)
  t.equal(open(), 1)
  const aborted = once(signal, 'abort')
  socket.resetAndDestroy()
  await aborted
  t.ok(exchange.client.isGone)
  await settled()
  t.same(notes, [['aRoute', 'gone', true]])
  exchange.answer({ status: 200, body: 'late' })
  exchange.answerBytes(bytesOf(Buffer.from('late')), '')
  await turnEnds()
  t.same(notes, [['aRoute', 'gone', true]])
})

t.test('a client that leaves during its answer is counted by that answer, and waited for no longer [L1]', async t => {
  const { port, notes, settled } = await serve(t, exchange => exchange.answerBytes(bytesOf(Buffer.alloc(50_000_000)), ''))
  const socket = await openTcp(t, { port })
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'data')
  socket.resetAndDestroy()
  await settled()
  t.same(notes, [['aRoute', 200, true]])
})

t.test('requests are logged only for who wants every detail, under one id each', async t => {
  const logged: unknown[] = []
  const log = { isLevelEnabled: (level: string) => level === 'debug', debug: (...line: unknown[]) => logged.push(line) }
  const fault = new TypeError('secret')
  let isFault = false
  const { ask, settled, errors } = await serve(
    t,
    exchange => (isFault ? exchange.refuse(fault) : exchange.answer({ status: 200, body: {} })),
    { log: log as unknown as ExchangeDeps['log'] }
  )
  t.notMatch((await ask()).head, /x-request-id/)
  isFault = true
  t.match((await ask()).head, /\r\nx-request-id: r2\r\n/)
  await settled()
  t.match(logged, [
    [{ requestId: 'r1', route: 'aRoute', status: 200, ms: Number }, 'Answered a request'],
    [{ requestId: 'r2', route: 'aRoute', status: 500, ms: Number }, 'Answered a request']
  ])
  t.match(errors, [[fault, { requestId: 'r2' }]])
})
