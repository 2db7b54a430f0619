import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { call, type Person, signInBody, signUp } from '../kit/person.ts'
import { startPushProvider } from '../kit/push-provider.ts'
import { browser, startStandIn, tokenOf } from './push/stand-in.ts'

const metricsToken = 'canary-of-the-metrics-token'
const canary = (what: string) => `canary-of-the-${what}-${crypto.randomUUID()}`

interface Program {
  url: string
  /** All it printed, on either channel. */
  printed(): string
  stop(): Promise<void>
}

/** The program with all that it can say, on a directory of its own. */
async function startTalkative(t: Test, args: string[], preload?: string): Promise<Program> {
  const child = spawn(
    process.execPath,
    [
      ...(preload === undefined ? [] : ['--import', preload]),
      'bin/afield.ts',
      ...['serve', '--port', '0', '--data', t.testdir(), '--signup', 'open', '--log-level', 'debug', '--metrics-token', metricsToken],
      ...args
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } }
  )
  t.teardown(() => child.kill('SIGKILL'))
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => printed.push(text))
  const stop = async () => {
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await closed
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^afield listening on (\S+)$/.exec(line)?.[1]
    if (url !== undefined) return { url, printed: () => printed.join(''), stop }
  }
  throw new Error(`The server ended before it listened: ${printed.join('')}`)
}

/** Uses the server with a secret in every place a request has, rightly and wrongly; returns the secrets. */
async function useWithSecrets(t: Test, server: { url: string }, provider: string): Promise<Record<string, string>> {
  const ada = await signUp(t, server)
  const signIn = await signInBody(ada.secret)
  const secrets = {
    provider,
    token: ada.token,
    wrongToken: `afield1-account.${btoa(canary('token'))}.abcdefghijklmnop`,
    ...signIn,
    urlToken: canary('url'),
    topic: canary('topic'),
    topicToken: canary('topic-token'),
    endpoint: canary('endpoint'),
    webhookSecret: `whsec_${btoa(canary('webhook')).replaceAll('=', '')}`,
    preview: canary('preview'),
    receipt: canary('receipt'),
    noticeId: canary('notice'),
    pushToken: `ExponentPushToken[${canary('push')}]`,
    text: canary('text'),
    title: canary('title'),
    localId: canary('local-id'),
    tag: canary('tag'),
    method: canary('method'),
    path: canary('path')
  }
  const { text, title, tag, localId, pushToken, urlToken, method, path } = secrets
  await call(server, 'POST', '/v1/auth', { body: signIn })
  await call(server, 'POST', '/v1/auth', { body: { ...signIn, signature: signIn.challenge } })
  await call(server, 'GET', '/v1/sessions', { token: secrets.wrongToken })
  await call(server, 'GET', `/v1/sessions?token=${urlToken}`)
  await call(server, 'GET', `/${path}?secret=${urlToken}`)
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey: signIn.publicKey } })

  const { body } = await ada.call('POST', '/v1/sessions', { body: { tag, metadata: text, agentState: text } })
  const session = body.session.id
  for (const content of [text, 7])
    await ada.call('POST', `/v3/sessions/${session}/messages`, { body: { messages: [{ localId, content }] } })
  await ada.call('POST', `/v3/sessions/${session}/messages`, { body: `{"messages": ${text}` })
  await ada.call('POST', '/v1/push-tokens', { body: { token: pushToken } })
  for (const kind of ['done', text])
    await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind, title, body: text, data: { text } } })
  await ada.call('DELETE', `/v1/push-tokens/${encodeURIComponent(pushToken)}`)
  await useNotifications(ada, session, secrets)
  await ada.call('POST', '/v1/account/settings', { body: { settings: text, expectedVersion: 0 } })
  await ada.call('POST', '/v1/machines', { body: { id: tag, metadata: text } })
  await ada.call('GET', `/v1/machines/${tag}`)

  const socket = await ada.connect()
  socket.emit('message', { sid: session, message: text, localId })
  socket.emit('message', { sid: text, message: 7 })
  socket.emit(method, { text })
  socket.emit('rpc-register', { method })
  socket.emit('update-metadata', { sid: session, metadata: text, expectedVersion: 9 })
  await socket.emitWithAck('ping')
  const stranger = await ada.connect({ token: secrets.wrongToken }).catch(() => undefined)
  t.notOk(stranger)
  return { ...secrets, metricsToken }
}

/** Channels whose provider repeats in its answer all that it was sent, and everything that is asked about them. */
async function useNotifications(ada: Person, session: string, secrets: Record<string, string>): Promise<void> {
  const { topic, topicToken, endpoint, webhookSecret, preview, receipt, noticeId, title, text } = secrets
  const { provider = '' } = secrets
  const keys = browser().keys
  const tokens = [
    tokenOf('Ntfy', { url: `${provider}/${topic}`, token: topicToken }),
    tokenOf('Webhook', { url: `${provider}/${topic}`, secret: webhookSecret }),
    tokenOf('WebPush', { endpoint: `${provider}/${endpoint}`, keys }),
    tokenOf('UnifiedPush', { endpoint: `http://169.254.169.254/${endpoint}`, keys }),
    `Ntfy[${topic}]`
  ]
  await ada.call('PUT', '/v1/notifications', { body: { settings: { previews: true } } })
  await ada.call('PUT', '/v1/notifications', { body: { settings: { timeZone: text } } })
  for (const token of tokens) await ada.call('POST', '/v1/push-tokens', { body: { token } })
  await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'permission', title, body: text, noticeId, preview } })
  await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'settled', title, body: text, noticeId } })
  await ada.call('POST', '/v1/notifications/test', { body: {} })
  await ada.call('POST', '/v1/notifications/test', { body: { channel: receipt } })
  await ada.call('POST', '/v1/push-receipts', { body: { receipt } })
  await ada.call('POST', '/v1/push-receipts', { body: { receipt: `${receipt}\n` } })
  await ada.call('DELETE', `/v1/notifications/channels/${receipt}`)
  await ada.call('GET', '/v1/notifications')
}

async function leaksOf(t: Test, preload?: string): Promise<string[]> {
  const service = await startStandIn(t)
  service.answer = ({ path, headers, body }) => ({ status: 500, text: JSON.stringify([path, headers, body.toString('latin1')]) })
  const provider = await startPushProvider(t)
  provider.answer = ({ messages }) => ({ status: 500, text: JSON.stringify(messages) })
  const program = await startTalkative(t, ['--expo-url', provider.url, '--push-allow', 'loopback'], preload)
  const { provider: _, ...secrets } = await useWithSecrets(t, program, service.url)
  t.ok(service.requests.length >= 3, 'and the providers were asked')
  const headers = { authorization: `Bearer ${metricsToken}` }
  const metrics = await (await fetch(`${program.url}/metrics`, { headers })).text()
  t.match(metrics, 'afield_http_requests_total')
  await program.stop()
  const told = program.printed() + metrics
  t.match(told, '"route":"POST /v3/sessions/:id/messages"', 'and it did log')
  return Object.entries(secrets).flatMap(([name, secret]) => (told.includes(secret) ? [name] : []))
}

t.test('no secret of any request appears in what the server prints or counts [P2]', async t => {
  t.same(await leaksOf(t), [])
})

t.test('a leak would be detected', async t => {
  t.match(await leaksOf(t, `data:text/javascript,${encodeURIComponent(leak)}`), ['text'])
})

// What a careless line of logging would do: it prints what was parsed.
const leak = `
  const parse = JSON.parse
  JSON.parse = (text, ...rest) => {
    const value = parse(text, ...rest)
    if (value?.metadata) console.error('came', value)
    return value
  }
`
