import t from 'tap'
import * as v from '../../../lib/schema.ts'
import { appAddress, httpChannel, pageOf, webAddress } from '../../../lib/server/push/http-channel.ts'
import { NotAllowed, type Outbound } from '../../../lib/server/push/outbound.ts'
import { never, outgoing, session } from './outgoing.ts'
import { tokenOf } from './stand-in.ts'

const fields = v.strictObject({ url: v.string() })
const token = tokenOf('Own', { url: 'https://one.example' })

/** A channel whose requests end like this. */
function channel(send: Outbound['send'], more: Partial<Parameters<typeof httpChannel<{ url: string }>>[1]> = {}) {
  const outbound: Outbound = { send, async close() {} }
  return httpChannel(outbound, { kind: 'ntfy', prefix: 'Own', fields, ask: ({ url }) => ({ url, headers: {} }), ...more })
}

t.test('a token belongs to a channel by its prefix, and channels acknowledge and clear only if they say so', async t => {
  const send = async () => ({ status: 200, retryAfterMs: undefined, text: '' })
  t.match(channel(send), { kind: 'ntfy', mostAtOnce: 1, acknowledges: false, clears: false })
  t.match(channel(send, { acknowledges: true, clears: true }), { acknowledges: true, clears: true })
  t.equal(channel(send).knows('Own[x]'), true)
  t.equal(channel(send).knows('Owner[x]'), false)
})

t.test('the status that a service answers decides the result', async t => {
  const table: [status: number, retryAfterMs: number | undefined, outcome: object][] = [
    [200, undefined, { outcome: 'accepted' }],
    [299, undefined, { outcome: 'accepted' }],
    [199, undefined, { outcome: 'refused', reason: 'HTTP 199' }],
    [300, undefined, { outcome: 'refused', reason: 'HTTP 300' }],
    [400, undefined, { outcome: 'refused', reason: 'HTTP 400' }],
    [404, undefined, { outcome: 'gone', reason: 'HTTP 404' }],
    [410, undefined, { outcome: 'gone', reason: 'HTTP 410' }],
    [408, undefined, { outcome: 'busy', reason: 'HTTP 408', retryAfterMs: undefined }],
    [425, undefined, { outcome: 'busy', reason: 'HTTP 425', retryAfterMs: undefined }],
    [429, 3_000, { outcome: 'busy', reason: 'HTTP 429', retryAfterMs: 3_000 }],
    [499, undefined, { outcome: 'refused', reason: 'HTTP 499' }],
    [500, 5, { outcome: 'busy', reason: 'HTTP 500', retryAfterMs: 5 }]
  ]
  for (const [status, retryAfterMs, outcome] of table)
    t.strictSame(await channel(async () => ({ status, retryAfterMs, text: '' })).send([outgoing({ token })], never), [outcome])
})

t.test('each notice has a request of its own, which ends with the signal', async t => {
  const end = new AbortController()
  const asked: object[] = []
  const provider = channel(
    async ({ signal, ...ask }) => {
      t.equal(signal, end.signal)
      asked.push(ask)
      return { status: asked.length === 1 ? 200 : 404, retryAfterMs: undefined, text: '' }
    },
    { ask: ({ url }, { what }) => (what === 'clear' ? undefined : { url, headers: {} }) }
  )
  const other = tokenOf('Own', { url: 'https://other.example' })
  const all = [outgoing({ token }), outgoing({ token: other }), outgoing({ token, what: 'clear' }), outgoing({ token: 'Own[x]' })]
  t.strictSame(await provider.send(all, end.signal), [
    { outcome: 'accepted' },
    { outcome: 'gone', reason: 'HTTP 404' },
    { outcome: 'accepted' },
    { outcome: 'refused', reason: 'unreadable token' }
  ])
  t.strictSame(asked, [
    { url: 'https://one.example', headers: {} },
    { url: 'https://other.example', headers: {} }
  ])
})

t.test('a request that fails is tried again, unless its address may not be reached [P5]', async t => {
  const failing = (error: unknown, signal = never) =>
    channel(async () => {
      throw error
    }).send([outgoing({ token })], signal)
  t.strictSame(await failing(new Error('reset')), [{ outcome: 'unreachable', reason: 'no answer' }])
  t.strictSame(await failing(new Error('reset'), AbortSignal.abort()), [{ outcome: 'unreachable', reason: 'no answer in time' }])
  const refused = [{ outcome: 'refused', reason: 'address not allowed' }]
  t.strictSame(await failing(new NotAllowed('no')), refused)
  t.strictSame(await failing(new TypeError('fetch failed', { cause: new NotAllowed('no') })), refused)
  t.strictSame(await failing('no error at all'), [{ outcome: 'unreachable', reason: 'no answer' }])
})

t.test('the flaw of a token names its field, and nothing that is in it', async t => {
  const { flawOf } = channel(async () => ({ status: 200, retryAfterMs: undefined, text: '' }))
  t.equal(flawOf(token), undefined)
  t.match(flawOf(tokenOf('Own', { url: 5 })), /^Own: url \S/)
  for (const unreadable of ['Own[not json]', 'Own[]', `${token} `, ` ${token}`, 'Own[e30', tokenOf('Other', {})])
    t.match(flawOf(unreadable), /^Own: token \S/, unreadable)
})

t.test('an address that a person chose is a web address of bounded length', async t => {
  const isOne = (schema: v.GenericSchema, text: unknown) => v.safeParse(schema, text).success
  const long = (length: number) => `https://one.example/${'x'.repeat(length - 'https://one.example/'.length)}`
  for (const [schema, most] of [
    [webAddress, 2048],
    [appAddress, 300]
  ] as const) {
    t.equal(isOne(schema, 'http://192.168.1.2:8080/hook'), true)
    t.equal(isOne(schema, 'ftp://one.example'), false)
    t.equal(isOne(schema, 'https://user:secret@one.example'), false)
    t.equal(isOne(schema, long(most)), true)
    t.equal(isOne(schema, long(most + 1)), false)
  }
  t.equal(isOne(appAddress, undefined), true)
  t.equal(isOne(webAddress, undefined), false)
})

t.test('a notice links to its session in the app, if the address of the app is known', async t => {
  t.equal(pageOf(undefined, { session }), undefined)
  t.equal(pageOf('https://home.example/any', { session }), 'https://home.example/s/session-1')
  t.equal(pageOf('https://home.example/any', { session: undefined }), 'https://home.example/')
})
