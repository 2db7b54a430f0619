import { join } from 'node:path'
import t from 'tap'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import type { ChannelKind } from '../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../lib/schema.ts'
import { createMetrics } from '../../../lib/server/watch/prometheus.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { call, type Person, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { browser, startStandIn, tokenOf } from '../push/stand-in.ts'
import { openTcp } from '../raw-http.ts'

const metricsToken = 'a token of the monitor'.replaceAll(' ', '-')

async function scrape(server: { url: string }): Promise<Map<string, number>> {
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  t.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

async function useEverything(ada: Person): Promise<void> {
  const session = await ada.openSession('one')
  const wrapper = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const app = await ada.connect()
  wrapper.on('rpc-request', (_, reply) => reply('sealed'))
  wrapper.emit('rpc-register', { method: `${session}:abort` })
  await wrapper.emitWithAck('ping')
  await app.emitWithAck('rpc-call', { method: `${session}:abort`, params: 'x' })
  await ada.send(session, { localId: '1' }, { localId: '2' })
  await ada.send(session, { localId: '1' })
  await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'done', title: 'x', body: 'x' } })
}

t.test('without the option there are no metrics', async t => {
  const server = await startServer(t)
  t.equal((await call(server, 'GET', '/metrics')).status, 404)
})

t.test('only a request with the token reads them', async t => {
  const server = await startServer(t, { metricsToken })
  const ada = await signUp(t, server)
  for (const token of [undefined, 'x', `${metricsToken}x`, metricsToken.slice(1), ada.token]) {
    t.equal((await call(server, 'GET', '/metrics', { token })).status, 401)
  }
  t.ok((await scrape(server)).size > 0)
})

t.test('requests of a monitor are counted by their status, like any other', async t => {
  const server = await startServer(t, { metricsToken })
  await call(server, 'GET', '/metrics', { token: 'another' })
  await call(server, 'GET', '/health')
  const counted = await scrape(server)
  t.equal(counted.get('afield_http_requests_total{route="GET /health",status="2xx"}'), 1)
  t.equal(counted.get('afield_http_requests_total{route="GET /metrics",status="4xx"}'), 1)
})

t.test('events are counted', async t => {
  const server = await startServer(t, { metricsToken })
  await useEverything(await signUp(t, server))
  const counted = await scrape(server)
  const expected: [series: string, value: number][] = [
    ['afield_http_requests_total{route="POST /v3/sessions/:id/messages",status="2xx"}', 2],
    ['afield_http_request_seconds_count{route="POST /v3/sessions/:id/messages"}', 2],
    ['afield_messages_appended_total', 2],
    ['afield_connections{scope="app"}', 1],
    ['afield_connections{scope="session"}', 1],
    ['afield_connections{scope="machine"}', 0],
    ['afield_calls_total{outcome="answered"}', 1],
    ['afield_socket_events_total{event="rpc-call",outcome="done"}', 1],
    ['afield_push_events_total{result="no_tokens"}', 1],
    ['afield_bus_events_total{type="call"}', 1]
  ]
  for (const [series, value] of expected) t.equal(counted.get(series), value, series)
  for (const series of [
    'afield_commit_seconds_count',
    'afield_commit_writes_sum',
    'afield_frames_sent_total',
    'process_resident_memory_bytes'
  ])
    t.ok((counted.get(series) ?? 0) > 0, series)
})

t.test('an event that is dropped is counted as refused, also if it asks for no acknowledgement', async t => {
  const server = await startServer(t, { metricsToken })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const dropped: [event: string, payload: unknown][] = [
    ['message', { sid: session, message: 7 }],
    ['message', { sid: 'unknown', message: 'aGk=' }],
    ['session-alive', { sid: session, time: 'now' }],
    ['session-end', {}],
    ['update-state', { sid: session, agentState: 7, expectedVersion: 0 }],
    ['rpc-register', { method: 'another:abort' }],
    ['rpc-call', {}]
  ]
  for (const [event, payload] of dropped) socket.emit(event, payload)
  t.same(await socket.emitWithAck('update-state', {}), { result: 'error', message: 'Invalid parameters' })
  socket.emit('rpc-register', { method: `${session}:abort` })
  await socket.emitWithAck('ping')
  const counted = await scrape(server)
  const expected = { message: 2, 'session-alive': 1, 'session-end': 1, 'update-state': 2, 'rpc-register': 1, 'rpc-call': 1 }
  for (const [event, many] of Object.entries(expected))
    t.equal(counted.get(`afield_socket_events_total{event="${event}",outcome="refused"}`), many, event)
  t.equal(counted.get('afield_socket_events_total{event="rpc-register",outcome="done"}'), 1)
})

t.test('no client input creates a new series [Q3, R6]', async t => {
  const server = await startServer(t, { metricsToken })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  const hostile = async (round: number) => {
    const name = `${round}"}\n{evil="${round}`
    await ada.call('GET', `/${encodeURIComponent(name)}`)
    await ada.call('GET', `/v3/sessions/${encodeURIComponent(name)}/messages`)
    await ada.call('DELETE', `/v1/push-tokens/${encodeURIComponent(name)}`)
    await ada.call('GET', '/v1/sessions', { headers: { 'x-happy-client': `evil/${round}`, 'user-agent': name.replace('\n', '') } })
    await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: `evil${round}`, title: 'x', body: 'x' } })
    socket.emit(name, {})
    socket.emit('rpc-call', { method: 7 })
    socket.emit('rpc-register', { method: name })
    await socket.emitWithAck('ping')
    const raw = await openTcp(t, server)
    raw.write(`EVIL${round} /evil${round} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    raw.resume()
    await new Promise(resolve => raw.once('close', resolve))
  }
  for (let round = 0; round < 3; round += 1) await hostile(round)
  await scrape(server)
  const before = [...(await scrape(server)).keys()]
  for (let round = 3; round < 100; round += 1) await hostile(round)
  const after = await scrape(server)
  t.same([...after.keys()], before)
  t.notMatch(before.join('\n'), /evil/i)
  t.ok((after.get('afield_socket_events_total{event="other",outcome="refused"}') ?? 0) >= 100)
  t.ok((after.get('afield_http_requests_total{route="other",status="4xx"}') ?? 0) >= 100)
})

t.test('ten thousand method names, called and registered, do not grow the metrics [R6]', async t => {
  // No call ends because its time is up, however slow this is.
  const server = await startServer(t, { metricsToken, clock: manualClock() })
  const ada = await signUp(t, server)
  const [socket, callee] = [await ada.connect(), await ada.connect()]
  const hostile = async (names: number) => {
    for (let name = 0; name < names; name += 1) {
      const method = crypto.randomUUID()
      callee.emit('rpc-register', { method })
      socket.emit('rpc-call', { method, params: 'x' })
    }
    for (const each of [socket, callee]) await each.emitWithAck('ping')
  }
  await hostile(100)
  // One that is refused and one that ends; the others wait.
  await socket.emitWithAck('rpc-call', {})
  await socket.emitWithAck('rpc-call', { method: 'x', params: Buffer.from('x') })
  await scrape(server)
  const before = [...(await scrape(server)).keys()]
  await hostile(10_000)
  t.same([...(await scrape(server)).keys()], before)
})

t.test('two servers in one process count separately', async t => {
  const data = t.testdir({ one: {}, two: {} })
  const one = await startServer(t, { metricsToken, data: join(data, 'one') })
  const two = await startServer(t, { metricsToken, data: join(data, 'two') })
  await signUp(t, one)
  const series = 'afield_http_requests_total{route="POST /v1/auth",status="2xx"}'
  t.equal((await scrape(one)).get(series), 1)
  t.equal((await scrape(two)).get(series), undefined)
})

t.test('notifications are counted by channel and outcome, and each arrival once', async t => {
  const service = await startStandIn(t)
  const server = await startServer(t, { metricsToken, pushAllow: 'loopback' })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const device = browser()
  const endpoint = { endpoint: `${service.url}/push`, keys: device.keys }
  for (const token of [tokenOf('WebPush', endpoint), tokenOf('Ntfy', { url: `${service.url}/topic` })]) {
    await ada.call('POST', '/v1/push-tokens', { body: { token } })
  }
  service.answer = ({ path }) => ({ status: path === '/topic' ? 403 : 201 })
  await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'done', title: 'x', body: 'x' } })
  const pushed = service.requests.find(({ path }) => path === '/push')
  const { receipt } = device.open(pushed?.body ?? Buffer.alloc(0)).notification.data
  for (const shown of [receipt, receipt, 'guessed']) await ada.call('POST', '/v1/push-receipts', { body: { receipt: shown } })
  const counted = [...(await scrape(server))].filter(([series]) => series.startsWith('afield_push_') && !series.includes('overdue'))
  t.same(Object.fromEntries(counted), {
    'afield_push_events_total{result="partial"}': 1,
    'afield_push_deliveries_total{channel="web-push",outcome="accepted"}': 1,
    'afield_push_deliveries_total{channel="ntfy",outcome="refused"}': 1,
    afield_push_arrivals_total: 1
  })
  t.equal((await scrape(server)).get('afield_push_overdue_seconds{channel="ntfy"}'), 0)
})

t.test('an undelivered notification is reported by how long it is overdue', async t => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  const due = new Map<ChannelKind, number>([
    ['ntfy', 2_000],
    ['expo', 9_000]
  ])
  metrics.watchQueue({ kinds: ['ntfy', 'expo', 'webhook'], now: () => 5_000, nextDueAt: async kind => due.get(kind) })
  const lines = (await metrics.text()).split('\n').filter(line => line.startsWith('afield_push_overdue_seconds'))
  t.same(
    lines.map(line => line.slice('afield_push_overdue_seconds'.length)),
    ['{channel="ntfy"} 3', '{channel="expo"} 0', '{channel="webhook"} 0']
  )
})

/** The lines of one metric that are no comments. */
const seriesOf = async (metrics: { text(): Promise<string> }, name: string) =>
  (await metrics.text()).split('\n').filter(line => line.startsWith(name))

t.test('requests, commits, events, calls and notifications are counted with their labels, and times in seconds', async t => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  metrics.requestAnswered('GET /health', 204, 5)
  metrics.requestAnswered('GET /health', 299, 250)
  metrics.requestAnswered('GET /health', 404, 20_000)
  metrics.requestAnswered('GET /health', 'gone', 1)
  t.same(await seriesOf(metrics, 'afield_http_requests_total'), [
    'afield_http_requests_total{route="GET /health",status="2xx"} 2',
    'afield_http_requests_total{route="GET /health",status="4xx"} 1',
    'afield_http_requests_total{route="GET /health",status="gone"} 1'
  ])
  const seconds = await seriesOf(metrics, 'afield_http_request_seconds')
  const bucket = (le: string, count: number) => `afield_http_request_seconds_bucket{le="${le}",route="GET /health"} ${count}`
  for (const line of [bucket('0.0025', 1), bucket('0.005', 2), bucket('0.25', 3), bucket('10', 3), bucket('+Inf', 4)])
    t.ok(seconds.includes(line), line)
  metrics.committed({ members: 3, ms: 2 })
  const commits = [...(await seriesOf(metrics, 'afield_commit_seconds')), ...(await seriesOf(metrics, 'afield_commit_writes'))]
  for (const line of [
    'afield_commit_seconds_bucket{le="0.001"} 0',
    'afield_commit_seconds_bucket{le="0.0025"} 1',
    'afield_commit_seconds_sum 0.002'
  ])
    t.ok(commits.includes(line), line)
  for (const line of ['afield_commit_writes_bucket{le="2"} 0', 'afield_commit_writes_bucket{le="4"} 1', 'afield_commit_writes_sum 3'])
    t.ok(commits.includes(line), line)
  metrics.eventTaken('message', 'failed')
  metrics.callEnded('timed-out')
  metrics.notified('suppressed')
  metrics.delivered('ntfy', 'waiting')
  metrics.arrived()
  for (const line of [
    'afield_socket_events_total{event="message",outcome="failed"} 1',
    'afield_calls_total{outcome="timed-out"} 1',
    'afield_push_events_total{result="suppressed"} 1',
    'afield_push_deliveries_total{channel="ntfy",outcome="waiting"} 1',
    'afield_push_arrivals_total 1'
  ])
    t.same(await seriesOf(metrics, line.slice(0, line.lastIndexOf(' '))), [line])
})

t.test('messages are counted where their change is published', async t => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  const row = { of: 'session', id: v.parse(ids.sessionId, 's') } as const
  const messages = [1, 2].map(seq => ({ seq, localId: null, sealed: v.parse(ids.sealed, 'x'), createdAt: 1 }))
  const rest = { type: 'change', clock: 1, at: 1, audience: 'apps' } as const
  metrics.published({ ...rest, change: { type: 'messages-added', session: row.id, messages } })
  metrics.published({ ...rest, change: { type: 'row-removed', row } })
  metrics.published({ type: 'call-dropped', id: '1' })
  t.same(await seriesOf(metrics, 'afield_messages_appended_total'), ['afield_messages_appended_total 2'])
  t.same(await seriesOf(metrics, 'afield_bus_events_total'), [
    'afield_bus_events_total{type="change"} 2',
    'afield_bus_events_total{type="call-dropped"} 1'
  ])
})

t.test('the state of connections, rows and backups is that of the moment it is read', async t => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  let times = 1
  metrics.gauge({
    connections: () => ({ app: 1, session: 2, machine: 3 * times }),
    framesSent: () => 4 * times,
    gapsFilled: () => 5 * times
  })
  metrics.watchRows({
    soundness: () => ({ scrubbed: 6, rounds: 7, damaged: 8, isFull: times > 1, logBytes: 9, logMovedAt: 3_000 * times }),
    now: () => 5_000
  })
  metrics.watchBackups(() => ({ last: 'ok', goodAt: times > 1 ? 11_000 : undefined, taken: { ok: 12, failed: 13 } }))
  const read = async () => {
    const lines = (await metrics.text())
      .split('\n')
      .filter(line => /^afield_(connections|frames|gaps|rows|scrub|disk|log|backup)/.test(line))
    return Object.fromEntries(lines.map(line => line.replace('afield_', '').split(' ')).map(([name, value]) => [name, Number(value)]))
  }
  const first = {
    ...{ 'connections{scope="app"}': 1, 'connections{scope="session"}': 2, 'connections{scope="machine"}': 3 },
    ...{ frames_sent_total: 4, gaps_filled_total: 5, rows_scrubbed_total: 6, scrub_rounds_total: 7, rows_damaged: 8 },
    ...{ disk_full: 0, log_bytes: 9, log_checkpoint_age_seconds: 2 },
    ...{ backups_ok_total: 12, backups_failed_total: 13, backup_last_good_time_seconds: 0 }
  }
  t.same(await read(), first)
  times = 2
  const second = { 'connections{scope="machine"}': 6, frames_sent_total: 8, gaps_filled_total: 10, disk_full: 1 }
  t.same(await read(), { ...first, ...second, log_checkpoint_age_seconds: 0, backup_last_good_time_seconds: 11 })
})

t.test('the process reports its own state', async t => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  const value = async (name: string) => Number((await seriesOf(metrics, `${name} `))[0]?.split(' ')[1])
  const { user, system } = process.cpuUsage()
  const seconds = await value('process_cpu_seconds_total')
  t.ok(seconds >= (user + system) / 1e6 && seconds < 600, `${seconds}`)
  t.ok(Math.abs((await value('process_start_time_seconds')) - (Date.now() / 1000 - process.uptime())) < 60)
  t.ok((await value('process_resident_memory_bytes')) > (await value('nodejs_heap_size_used_bytes')))
  t.ok((await value('nodejs_heap_size_used_bytes')) > 1024 * 1024)
  const lag = await value('nodejs_eventloop_lag_p99_seconds')
  t.ok(lag >= 0 && lag < 60, `${lag}`)
})
