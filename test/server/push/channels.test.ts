import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto'
import t, { type Test } from 'tap'
import type { ServerSetup } from '../../../lib/server/create.ts'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { browser, type Request, startStandIn, tokenOf } from './stand-in.ts'

async function startWorld(t: Test, options: ServerSetup = {}) {
  const service = await startStandIn(t)
  const server = await startServer(t, { pushAllow: 'loopback', pushContact: 'mailto:operator@example.net', ...options })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const register = (token: string) => ada.call('POST', '/v1/push-tokens', { body: { token } })
  const notify = async (body: object) =>
    (await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { title: 'orchard', body: 'git push', ...body } })).body
  return { service, server, ada, session, register, notify }
}

const first = (requests: Request[]) => requests[0] as Request

t.test('Web Push messages are encrypted for the device, signed, and shown by a browser without our worker [P1]', async t => {
  const { service, ada, session, register, notify } = await startWorld(t)
  const device = browser()
  await register(tokenOf('WebPush', { endpoint: `${service.url}/push/1`, keys: device.keys, app: 'https://home.example.net' }))
  await ada.call('PUT', '/v1/notifications', { body: { settings: { previews: true } } })
  t.match(await notify({ kind: 'permission', noticeId: 'n1', preview: 'c2VhbGVk' }), { result: 'sent', tokens: 1, delivered: 1 })
  const { path, headers, body } = first(service.requests)
  t.equal(path, '/push/1')
  t.match(headers, { 'content-encoding': 'aes128gcm', urgency: 'high', ttl: /^86[34]\d\d$/, topic: /^[\w-]{32}$/ })

  const { key } = (await ada.call('GET', '/v1/push-key')).body
  const [, jwt = '', k] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization ?? '') ?? []
  t.equal(k, key, 'signed with the key that the browser subscribed for')
  const [head = '', claims = '', signature = ''] = jwt.split('.')
  const bytes = Buffer.from(key, 'base64url')
  const jwk = { kty: 'EC', crv: 'P-256', x: bytes.subarray(1, 33).toString('base64url'), y: bytes.subarray(33).toString('base64url') }
  const signed = Buffer.from(`${head}.${claims}`)
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  t.ok(verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')))
  t.match(JSON.parse(Buffer.from(claims, 'base64url').toString()), { aud: service.url, sub: 'mailto:operator@example.net', exp: Number })

  const payload = device.open(body)
  t.match(payload, {
    web_push: 8030,
    mutable: true,
    notification: {
      title: 'Your agent needs a decision',
      body: 'Open the app to decide.',
      navigate: `https://home.example.net/s/${session}`,
      tag: session,
      data: { v: 1, what: 'show', notice: 'n1', kind: 'permission', session, preview: 'c2VhbGVk', receipt: /^[a-z2-7]{24}$/ }
    }
  })
  t.notMatch(JSON.stringify([payload, headers]), /orchard|git push/)
})

t.test('a retry has the same topic and notice, and a preview goes only to a device that wants previews', async t => {
  const { service, register, notify } = await startWorld(t)
  const device = browser()
  await register(tokenOf('WebPush', { endpoint: `${service.url}/push/1`, keys: device.keys }))
  await notify({ kind: 'permission', noticeId: 'n1', preview: 'c2VhbGVk' })
  await notify({ kind: 'question', noticeId: 'n2' })
  const [one, two] = service.requests
  t.equal(one?.headers['topic'], two?.headers['topic'], 'of one session one notification')
  t.notMatch(JSON.stringify(device.open(one?.body ?? Buffer.alloc(0))), /c2VhbGVk/)
  t.equal((await notify({ kind: 'permission', noticeId: 'n1' })).result, 'sent', 'the retry of a wrapper is answered as before')
  t.equal(service.requests.length, 2, 'and told to nobody')
})

t.test('ntfy notices are sent in headers, replaced by session number, and cleared when answered', async t => {
  const { service, session, register, notify } = await startWorld(t)
  await register(tokenOf('Ntfy', { url: `${service.url}/topic`, token: 'tk_secret', app: 'https://home.example.net' }))
  t.match(await notify({ kind: 'question', noticeId: 'n1' }), { result: 'sent' })
  const { method, path, headers, body } = first(service.requests)
  t.same([method, path, body.toString()], ['POST', '/topic', 'Open the app to answer.'])
  t.match(headers, {
    authorization: 'Bearer tk_secret',
    title: 'Your agent has a question',
    priority: '4',
    tags: 'speech_balloon',
    'x-sequence-id': session,
    click: `https://home.example.net/s/${session}`
  })
  t.same(JSON.parse(String(headers['actions'])), [{ action: 'view', label: 'Open', url: `https://home.example.net/s/${session}` }])
  await notify({ kind: 'settled', noticeId: 'n1' })
  const [, cleared] = await service.came(2)
  t.match(cleared, { method: 'DELETE', path: `/topic/${session}`, headers: { authorization: 'Bearer tk_secret' } })
})

t.test('ntfy shows Chinese text, and only fixed sentences', async t => {
  const { service, ada, register, notify } = await startWorld(t)
  await register(tokenOf('Ntfy', { url: `${service.url}/topic` }))
  await ada.call('PUT', '/v1/notifications', { body: { settings: { language: 'zh', decision: 'silent' } } })
  await notify({ kind: 'permission', noticeId: 'n1' })
  const { headers, body } = first(service.requests)
  const [, word = ''] = /^=\?UTF-8\?B\?(.+)\?=$/.exec(String(headers['title'])) ?? []
  t.equal(Buffer.from(word, 'base64').toString(), '智能体需要你决定')
  t.equal(body.toString(), '打开应用作出决定。')
  t.equal(headers['priority'], '2', 'without sound')
})

t.test('a webhook is signed over its id, time and body', async t => {
  const { service, session, register, notify } = await startWorld(t)
  const secret = randomBytes(32)
  await register(tokenOf('Webhook', { url: `${service.url}/hook`, secret: `whsec_${secret.toString('base64')}` }))
  await notify({ kind: 'failed', noticeId: 'n1' })
  const { headers, body } = first(service.requests)
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
  t.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000) < 60)
  const event = JSON.parse(body.toString())
  t.match(event, { type: 'notification', data: { id: 'n1', kind: 'failed', session, title: 'A session stopped', silent: false } })
  t.notMatch(body.toString(), /orchard|git push/)
  await notify({ kind: 'settled', noticeId: 'n1' })
  const [, settled] = await service.came(2)
  t.match(JSON.parse(settled?.body.toString() ?? ''), { type: 'notification.settled', data: { id: 'n1', session } })
})

t.test('UnifiedPush gets the same as Web Push, and a silent message when answered', async t => {
  const { service, register, notify } = await startWorld(t)
  const device = browser()
  await register(tokenOf('UnifiedPush', { endpoint: `${service.url}/up`, keys: device.keys }))
  await notify({ kind: 'permission', noticeId: 'n1' })
  t.match(device.open(first(service.requests).body), { notification: { data: { what: 'show', notice: 'n1' } } })
  await notify({ kind: 'settled', noticeId: 'n1' })
  const [, cleared] = await service.came(2)
  t.match(device.open((cleared as Request).body), { notification: { data: { what: 'clear', notice: 'n1' } } })
})

t.test('only a channel with our code at its other end is expected to acknowledge what arrives', async t => {
  const { service, ada, register } = await startWorld(t, { expoUrl: 'https://expo.invalid' })
  const { keys } = browser()
  await register('ExponentPushToken[phone]')
  await register(tokenOf('WebPush', { endpoint: `${service.url}/push`, keys }))
  await register(tokenOf('UnifiedPush', { endpoint: `${service.url}/up`, keys }))
  await register(tokenOf('Ntfy', { url: `${service.url}/topic` }))
  await register(tokenOf('Webhook', { url: `${service.url}/hook`, secret: `whsec_${randomBytes(32).toString('base64')}` }))
  const { channels } = (await ada.call('GET', '/v1/notifications')).body
  t.same(Object.fromEntries(channels.map(({ kind, acknowledges }: { kind: string; acknowledges: boolean }) => [kind, acknowledges])), {
    expo: false,
    'web-push': true,
    'unified-push': true,
    ntfy: false,
    webhook: false
  })
})

t.test('an unusable channel is rejected with the reason, without its secrets', async t => {
  const { ada } = await startWorld(t)
  const { keys } = browser()
  const table: [string, RegExp][] = [
    ['WebPush[not json]', /WebPush/],
    [
      tokenOf('WebPush', { endpoint: 'https://push.example/secret', keys: { ...keys, auth: 'short' } }),
      /WebPush: keys\.auth is not a secret of 16 bytes/
    ],
    [tokenOf('Ntfy', { url: 'ftp://ntfy.example/secret' }), /Ntfy: url is not a web address/],
    [tokenOf('Ntfy', { url: 'https://user:secret@ntfy.example/mine' }), /Ntfy: url/],
    [tokenOf('Ntfy', { url: 'https://ntfy.example/mine', token: 'a\nsecret: b' }), /Ntfy: token/],
    [tokenOf('Webhook', { url: 'https://hook.example/', secret: 'secret' }), /Webhook: secret/]
  ]
  for (const [token, says] of table) {
    const { status, body } = await ada.call('POST', '/v1/push-tokens', { body: { token } })
    t.equal(status, 400, token)
    t.match(JSON.stringify(body), says)
    t.notMatch(JSON.stringify(body), /push\.example|ntfy\.example|hook\.example/)
  }
  t.equal(
    (await ada.call('POST', '/v1/push-tokens', { body: { token: 'of nobody' } })).status,
    200,
    'existing apps would repeat it for ever'
  )
})

t.test('only the device that registered a channel sees its address; Expo tokens are visible to all, as happy notify needs', async t => {
  const { server, ada, service, register } = await startWorld(t, { expoUrl: 'https://expo.invalid' })
  const ntfy = tokenOf('Ntfy', { url: `${service.url}/topic` })
  await register(ntfy)
  await register('ExponentPushToken[phone]')
  const tokens = async (who: typeof ada) =>
    (await who.call('GET', '/v1/push-tokens')).body.tokens.map(({ token }: { token: string }) => token).toSorted()
  const other = await signUp(t, server, ada.secret)
  t.same(await tokens(ada), ['ExponentPushToken[phone]', ntfy])
  t.same(await tokens(other), ['ExponentPushToken[phone]', 'Ntfy[…]'])
  const seen = (await other.call('GET', '/v1/notifications')).body
  t.match(seen.channels.map(({ kind, isOwn }: { kind: string; isOwn: boolean }) => `${kind} ${isOwn}`).toSorted(), [
    'expo false',
    'ntfy false'
  ])
  t.notMatch(JSON.stringify(seen), service.url)
  const id = seen.channels.find(({ kind }: { kind: string }) => kind === 'ntfy').id
  t.equal((await other.call('DELETE', `/v1/notifications/channels/${id}`)).status, 200, 'any device may remove it')
  t.same(await tokens(ada), ['ExponentPushToken[phone]'])
})

t.test('channels that the operator did not allow get nothing [P5]', async t => {
  const { service, register, notify } = await startWorld(t, { pushAllow: '192.168.1.0/24' })
  const device = browser()
  const targets = [service.url, service.url.replace('http:', 'https:'), `http://localhost:${service.port}`, 'http://169.254.169.254']
  for (const target of targets) {
    await register(tokenOf('Ntfy', { url: `${target}/x` }))
    await register(tokenOf('Webhook', { url: `${target}/x`, secret: `whsec_${randomBytes(32).toString('base64')}` }))
    await register(tokenOf('WebPush', { endpoint: `${target}/x`, keys: device.keys }))
    await register(tokenOf('UnifiedPush', { endpoint: `${target}/x`, keys: device.keys }))
  }
  t.match(await notify({ kind: 'permission' }), { result: 'failed', delivered: 0, tokens: 16, reason: 'refused' })
  t.same(service.requests, [])
})
