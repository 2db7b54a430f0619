import t from 'tap'
import { expoPush } from '../../../lib/server/push/expo.ts'
import { never, outgoing, session } from './outgoing.ts'
import { type Answer, startStandIn } from './stand-in.ts'

const phone = 'ExponentPushToken[phone]'
const tablet = 'ExponentPushToken[tablet]'
const answer = (body: unknown, status = 200): Answer => ({ status, text: JSON.stringify(body) })
const error = (error?: string) => ({ status: 'error', message: 'in words', ...(error !== undefined && { details: { error } }) })

t.test('it knows the tokens of Expo, old and new', async t => {
  const provider = expoPush('http://127.0.0.1:9')
  for (const token of [phone, 'ExpoPushToken[x]']) t.equal(provider.knows(token), true, token)
  for (const token of [
    'ExponentPushToken[]',
    'ExponentPushToken[x',
    ' ExpoPushToken[x]',
    'ExpoPushToken[x] ',
    'ExpoPushToken[x]y]',
    'Ntfy[x]'
  ])
    t.equal(provider.knows(token), false, token)
  t.equal(provider.flawOf(phone), undefined)
  const { kind, mostAtOnce, acknowledges, clears } = provider
  t.strictSame({ kind, mostAtOnce, acknowledges, clears }, { kind: 'expo', mostAtOnce: 100, acknowledges: false, clears: false })
})

t.test('notices are one request, as existing apps expect them', async t => {
  const service = await startStandIn(t)
  service.answer = () => answer({ data: [{ status: 'ok', id: 'ticket' }, { status: 'ok' }] })
  const notices = [
    outgoing({ token: phone }),
    outgoing({ token: tablet, kind: 'machine', session: undefined, isSilent: true, lastsMs: 999 })
  ]
  t.strictSame(await expoPush(service.url).send(notices, never), [{ outcome: 'accepted', ticket: 'ticket' }, { outcome: 'accepted' }])
  t.equal(service.requests.length, 1)
  const [request] = service.requests
  t.match(request, { method: 'POST', path: '/--/api/v2/push/send' })
  t.match(request?.headers, { 'content-type': 'application/json', accept: 'application/json', authorization: undefined })
  t.strictSame(JSON.parse(String(request?.body)), [
    {
      ...{ to: phone, title: 'A title', body: 'A body', sound: 'default', channelId: 'messages', ttl: 61 },
      data: { sessionId: session, kind: 'permission', url: `/session/${session}`, type: 'permission_request' }
    },
    {
      ...{ to: tablet, title: 'A title', body: 'A body', sound: null, channelId: 'messages', ttl: 0 },
      data: { kind: 'machine', url: '/', type: 'error' }
    }
  ])
})

t.test('each kind opens what existing apps open for it', async t => {
  const service = await startStandIn(t)
  const types = {
    ...{ done: 'ready', permission: 'permission_request', question: 'question', error: 'error', failed: 'error', silent: 'error' },
    ...{ machine: 'error', device: 'device', test: 'ready', digest: 'ready' }
  } as const
  const kinds = Object.keys(types) as (keyof typeof types)[]
  await expoPush(service.url).send(
    kinds.map(kind => outgoing({ token: phone, kind })),
    never
  )
  const sent: { data: { kind: string; type: string } }[] = JSON.parse(service.requests[0]?.body.toString() ?? '')
  t.strictSame(Object.fromEntries(sent.map(({ data }) => [data.kind, data.type])), types)
})

t.test('an access token of the operator is sent with every request', async t => {
  const service = await startStandIn(t)
  const provider = expoPush(service.url, 'secret')
  await provider.send([outgoing()], never)
  await provider.look?.(['ticket'], never)
  t.same(
    service.requests.map(({ headers }) => headers.authorization),
    ['Bearer secret', 'Bearer secret']
  )
})

t.test('each ticket is the result of its own notice; one without a ticket is tried again', async t => {
  const service = await startStandIn(t)
  const tickets = [
    error('DeviceNotRegistered'),
    error('MessageRateExceeded'),
    error('MessageTooBig'),
    error(),
    { status: 'ok', id: 'last' }
  ]
  service.answer = () => answer({ data: tickets })
  const notices = [...tickets, 'none'].map(() => outgoing({ token: phone }))
  t.strictSame(await expoPush(service.url).send(notices, never), [
    { outcome: 'gone', reason: 'DeviceNotRegistered' },
    { outcome: 'busy', reason: 'MessageRateExceeded' },
    { outcome: 'refused', reason: 'MessageTooBig' },
    { outcome: 'refused', reason: 'refused' },
    { outcome: 'accepted', ticket: 'last' },
    { outcome: 'busy', reason: 'no ticket' }
  ])
})

t.test('an answer to the whole request is the result of all its notices', async t => {
  const service = await startStandIn(t)
  const table: [given: Answer, outcome: object][] = [
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { outcome: 'busy', reason: 'HTTP 429', retryAfterMs: 7_000 }
    ],
    [
      { status: 503, headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' } },
      { outcome: 'busy', reason: 'HTTP 503', retryAfterMs: undefined }
    ],
    [{ status: 400 }, { outcome: 'refused', reason: 'HTTP 400' }],
    [
      { status: 200, text: '<html>Sign in to the WiFi</html>' },
      { outcome: 'busy', reason: 'unreadable answer' }
    ],
    [answer({ errors: [] }), { outcome: 'busy', reason: 'unreadable answer' }],
    [answer({ data: [{ status: 'perhaps' }] }), { outcome: 'busy', reason: 'unreadable answer' }],
    [answer({ data: [], more: 'x'.repeat(256 * 1024) }), { outcome: 'busy', reason: 'unreadable answer' }]
  ]
  for (const [given, outcome] of table) {
    service.answer = () => given
    t.strictSame(await expoPush(service.url).send([outgoing(), outgoing()], never), [outcome, outcome], JSON.stringify(given).slice(0, 60))
  }
  // The largest answer that is still read.
  const empty = JSON.stringify({ data: [], more: '' }).length
  service.answer = () => answer({ data: [], more: 'x'.repeat(256 * 1024 - empty) })
  t.strictSame(await expoPush(service.url).send([outgoing()], never), [{ outcome: 'busy', reason: 'no ticket' }])
})

t.test('no answer is told apart from one that did not come in time, and both are tried again', async t => {
  const service = await startStandIn(t)
  const provider = expoPush(service.url)
  service.answer = () => 'never'
  const end = new AbortController()
  const [sent, looked] = [provider.send([outgoing(), outgoing()], end.signal), provider.look?.(['one', 'two'], end.signal)]
  await service.came(2)
  end.abort()
  t.strictSame(await sent, [
    { outcome: 'unreachable', reason: 'no answer in time' },
    { outcome: 'unreachable', reason: 'no answer in time' }
  ])
  t.strictSame(await looked, [{ outcome: 'unreachable' }, { outcome: 'unreachable' }])
  await service.close()
  t.strictSame(await provider.send([outgoing()], never), [{ outcome: 'unreachable', reason: 'no answer' }])
  t.strictSame(await provider.look?.(['one'], never), [{ outcome: 'unreachable' }])
})

t.test('results that come later are asked for by their tickets', async t => {
  const service = await startStandIn(t)
  const provider = expoPush(service.url)
  service.answer = () => answer({ data: { one: { status: 'ok' }, two: error('DeviceNotRegistered'), three: error() } })
  t.strictSame(await provider.look?.(['three', 'two', 'one', 'four'], never), [
    { outcome: 'refused', reason: 'refused' },
    { outcome: 'gone', reason: 'DeviceNotRegistered' },
    { outcome: 'accepted' },
    { outcome: 'accepted' }
  ])
  const { method, path, body } = service.requests[0] ?? { body: '' }
  t.same([method, path, JSON.parse(body.toString())], ['POST', '/--/api/v2/push/getReceipts', { ids: ['three', 'two', 'one', 'four'] }])
  for (const given of [answer({ data: { one: { status: 'ok' } } }, 429), { status: 429, text: 'busy' }, { text: 'no JSON' }]) {
    service.answer = () => ({ ...given, headers: { 'retry-after': '3' } })
    t.strictSame(await provider.look?.(['one', 'two'], never), [
      { outcome: 'busy', retryAfterMs: 3_000 },
      { outcome: 'busy', retryAfterMs: 3_000 }
    ])
  }
})
