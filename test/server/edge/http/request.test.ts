import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import t from 'tap'
import type { Failure } from '../../../../lib/protocol/wire/failures.ts'
import { readTrustedProxies } from '../../../../lib/server/address.ts'
import { Budget } from '../../../../lib/server/budget.ts'
import { addressOf, copyRequest, copySender, parseBody, readBody } from '../../../../lib/server/edge/http/request.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

/** What is read of a request of the library. */
function requestOf(headers: [name: string, value: string][] | Record<string, string>, { query = '', params = [] as string[] } = {}) {
  const lines = Array.isArray(headers) ? headers : Object.entries(headers)
  return {
    getQuery: () => query,
    getParameter: (index: number) => params[index],
    getHeader: (name: string) => lines.find(([each]) => each === name)?.[1] ?? '',
    forEach: (see: (name: string, value: string) => void) => {
      for (const [name, value] of lines) see(name, value)
    }
  } as unknown as HttpRequest
}

const from = (peer: string) => ({ getRemoteAddressAsText: () => Buffer.from(peer) }) as unknown as HttpResponse

t.test('what a route needs of a request is copied', t => {
  const headers = {
    authorization: 'Bearer x',
    'content-type': 'text/plain',
    'content-length': '12',
    origin: 'https://app.example',
    'x-connection-id': 'c1'
  }
  const { query, ...copied } = copyRequest(requestOf(headers, { query: 'a=1&b=2', params: ['p', 'q'] }), 3)
  t.equal(query?.get('b'), '2')
  t.same(copied, {
    params: ['p', 'q', ''],
    authorization: 'Bearer x',
    contentType: 'text/plain',
    contentLength: 12,
    origin: 'https://app.example',
    skip: 'c1'
  })
  const bare = copyRequest(requestOf({}), 0)
  t.same(bare, { query: undefined, params: [], authorization: '', contentType: '', contentLength: 0, origin: '', skip: '' })
  t.end()
})

t.test('a sender is named by its client, or else by its browser, with its address and network', t => {
  const nobody = readTrustedProxies(undefined)
  const sender = (headers: Record<string, string>) => copySender(from('192.0.2.7'), requestOf(headers), nobody)
  t.same(sender({ 'x-happy-client': 'ios/1', 'user-agent': 'browser' }), { client: 'ios/1', address: '192.0.2.7', network: '192.0.2' })
  t.equal(sender({ 'user-agent': 'b'.repeat(200) }).client, 'b'.repeat(100))
  t.equal(sender({}).client, '')
  t.end()
})

t.test('an address in a header counts only as our own last proxy saw it [Q1]', t => {
  const proxies = readTrustedProxies('10.0.0.0/8')
  const plain = (...values: string[]): [string, string][] => values.map(value => ['x-forwarded-for', value])
  const forwarded = (...values: string[]): [string, string][] => values.map(value => ['forwarded', value])
  const table: [headers: [string, string][], address: string][] = [
    [[], '10.0.0.1'],
    [plain('192.0.2.7'), '192.0.2.7'],
    [plain('198.51.100.1, 192.0.2.7'), '192.0.2.7'],
    [plain('198.51.100.1,192.0.2.7 , 10.0.0.2'), '192.0.2.7'],
    [plain('198.51.100.1', '192.0.2.7'), '192.0.2.7'],
    [plain('10.0.0.3, 10.0.0.2'), '10.0.0.3'],
    [plain('192.0.2.7, unknown, 10.0.0.2'), '10.0.0.2'],
    [plain('192.0.2.7, unknown'), '10.0.0.1'],
    [forwarded('for=192.0.2.7'), '192.0.2.7'],
    [forwarded('proto=https; For="[2001:db8::17]:4711" ;by=10.0.0.1'), '2001:0db8:0000:0000:0000:0000:0000:0017'],
    [forwarded('for=198.51.100.1, for=192.0.2.7;proto=https'), '192.0.2.7'],
    [forwarded('for=198.51.100.1', 'for="192.0.2.7"'), '192.0.2.7'],
    [forwarded('by=192.0.2.7'), '10.0.0.1'],
    [[...plain('192.0.2.7'), ...forwarded('for=192.0.2.7')], '192.0.2.7'],
    [[...plain('198.51.100.1, 192.0.2.7'), ...forwarded('for=192.0.2.7')], '192.0.2.7'],
    [[...plain('192.0.2.7'), ...forwarded('for=198.51.100.1')], '10.0.0.1'],
    [[['x-real-ip', '192.0.2.7']], '10.0.0.1']
  ]
  for (const [headers, address] of table) {
    t.equal(addressOf(from('10.0.0.1'), requestOf(headers), proxies), address, JSON.stringify(headers))
    t.equal(addressOf(from('203.0.113.9'), requestOf(headers), proxies), '203.0.113.9', 'of a stranger no header counts')
  }
  t.end()
})

/** A body that arrives as the test says. */
function bodyOf(limit: number, budget = new Budget(200_000)) {
  const clock = manualClock()
  const read: (string | undefined)[] = []
  let onData = (_: ArrayBuffer, __: boolean) => {}
  const response = {
    onData(handler: typeof onData) {
      onData = handler
    }
  } as unknown as HttpResponse
  const share = budget.share('ada')
  const forget = readBody(response, { limit, share, clock }, body => {
    read.push(Buffer.isBuffer(body) ? String(body) : (body as Failure).code)
  })
  const arrive = (text: string, isLast = false) => {
    const bytes = new Uint8Array(Buffer.from(text)).buffer
    onData(bytes, isLast)
    // As of the library: valid only during the call.
    new Uint8Array(bytes).fill(0)
  }
  return { read, arrive, forget, share, clock, budget }
}

t.test('a body is read in one piece or many, and holds nothing afterwards', t => {
  const one = bodyOf(10)
  one.arrive('0123456789', true)
  t.same(one.read, ['0123456789'])
  const many = bodyOf(50_000)
  many.arrive('a'.repeat(20_000))
  t.equal(many.share.bytes, 20_000)
  many.arrive('b'.repeat(20_000))
  t.equal(many.share.bytes, 40_000)
  many.arrive('c', true)
  t.same(many.read, [`${'a'.repeat(20_000)}${'b'.repeat(20_000)}c`])
  t.equal(many.share.bytes, 0)
  const empty = bodyOf(10)
  empty.arrive('', true)
  t.same(empty.read, [''])
  t.end()
})

t.test('a body that is too large is rejected while it arrives, once [N2]', t => {
  const one = bodyOf(10)
  one.arrive('01234567890', true)
  t.same(one.read, ['body-too-large'])
  const many = bodyOf(20_000)
  many.arrive('a'.repeat(19_000))
  many.arrive('a'.repeat(1_000))
  t.same(many.read, [])
  many.arrive('a')
  t.same(many.read, ['body-too-large'])
  t.equal(many.share.bytes, 0)
  many.arrive('a', true)
  many.arrive('a'.repeat(30_000), true)
  t.same(many.read, ['body-too-large'])
  t.end()
})

t.test('small bodies pass when the memory for bodies is used up, and others are told to come again', t => {
  const budget = new Budget(1)
  budget.share('ben').take(1)
  const little = bodyOf(50_000, budget)
  little.arrive('a'.repeat(16_000))
  little.arrive('b'.repeat(384))
  t.same(little.read, [])
  little.arrive('', true)
  t.equal(little.read[0]?.length, 16 * 1024)
  const large = bodyOf(50_000, budget)
  large.arrive('a'.repeat(16_000))
  large.arrive('b'.repeat(385))
  t.same(large.read, ['busy'])
  t.end()
})

t.test('a body that takes long gives way to others when memory is short', t => {
  const budget = new Budget(40_000)
  const slow = bodyOf(50_000, budget)
  slow.arrive('a'.repeat(30_000))
  const other = () => budget.share('ben').take(20_000)
  t.notOk(other())
  slow.clock.advance(10_000)
  t.ok(other())
  t.same(slow.read, ['busy'])
  slow.arrive('a', true)
  t.same(slow.read, ['busy'])
  t.end()
})

t.test('a body that is not needed any more is dropped', t => {
  const { read, arrive, forget, share } = bodyOf(50_000)
  arrive('a'.repeat(20_000))
  forget()
  t.equal(share.bytes, 0)
  arrive('b', true)
  t.same(read, [])
  t.doesNotThrow(forget)
  t.end()
})

t.test('a body is JSON in UTF-8 or absent, whatever existing clients call it', t => {
  const parse = (text: string | Buffer, type = 'application/json') => {
    try {
      return parseBody(Buffer.from(text as string), type)
    } catch (error) {
      const { code, detail } = error as Failure
      return detail === undefined ? code : `${code}: ${detail}`
    }
  }
  t.same(parse('', 'image/png'), {})
  for (const type of ['', 'application/json', 'APPLICATION/JSON; charset=utf-8', 'text/plain'])
    t.same(parse('{"a":1}', type), { a: 1 }, type)
  for (const type of ['application/jsonp', 'text/html', 'x/application/json', 'multipart/form-data']) {
    t.same(parse('{"a":1}', type), 'bad-content-type', type)
  }
  t.same(parse(Buffer.from([0x22, 0xff, 0x22])), 'bad-input: body is not UTF-8')
  t.same(parse('{"a":'), 'bad-input: body is not JSON')
  t.same(parse('['.repeat(10_000) + ']'.repeat(10_000)), 'bad-input: body has too many values, or too deep ones')
  t.end()
})
