import { createECDH, createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Outbound } from '../../../lib/server/push/outbound.ts'
import { freshVapidSecret, unifiedPush, vapidKeysOf, webPush } from '../../../lib/server/push/web-push.ts'
import type { Outgoing, PushProvider } from '../../../lib/server/push.ts'
import { keptOutbound, never, outgoing, session } from './outgoing.ts'
import { browser, tokenOf } from './stand-in.ts'

const endpoint = 'https://push.example/1'
const signer = { vapid: vapidKeysOf(freshVapidSecret()), contact: 'mailto:operator@example.net' }

/** What a device gets, and what the push service sees of it. */
async function sent(
  t: Test,
  more: Partial<Outgoing> = {},
  { app, of = webPush }: { app?: string; of?: (to: Outbound, by: typeof signer) => PushProvider } = {}
) {
  const device = browser()
  const { outbound, asked } = keptOutbound(201)
  const prefix = of === webPush ? 'WebPush' : 'UnifiedPush'
  const token = tokenOf(prefix, { endpoint, keys: device.keys, ...(app !== undefined && { app }) })
  t.same(await of(outbound, signer).send([outgoing({ token, ...more })], never), [{ outcome: 'accepted' }])
  const [ask] = asked
  if (ask === undefined) return undefined
  if (!(ask.body instanceof Buffer)) throw new Error('There is nothing sealed.')
  t.equal(ask.url, endpoint)
  const headers: Record<string, string | undefined> = ask.headers
  return { headers, payload: device.open(ask.body) }
}

async function got(...given: Parameters<typeof sent>) {
  const one = await sent(...given)
  if (one === undefined) throw new Error('Nothing was sent.')
  return one
}

t.test('a device gets the notice sealed, with a text for browsers without our worker [P1]', async t => {
  const { headers, payload } = await got(t, { preview: 'sealed' }, { app: 'https://home.example' })
  t.strictSame(payload, {
    web_push: 8030,
    notification: {
      ...{ title: 'A title', body: 'A body', navigate: 'https://home.example/s/session-1', tag: session, lang: 'en', silent: false },
      data: {
        ...{ v: 1, what: 'show', notice: 'n1', kind: 'permission', session, receipt: 'r1' },
        ...{ createdAt: Date.parse('2026-01-15T13:00:00Z'), preview: 'sealed' }
      }
    },
    mutable: true
  })
  const names = Object.keys(headers).map(name => name.toLowerCase())
  t.same(
    names.toSorted(),
    ['authorization', 'content-encoding', 'content-type', 'topic', 'ttl', 'urgency'],
    'and no length, which is set when it is sent'
  )
  t.match(headers, { TTL: '61', Urgency: 'high', Topic: createHash('sha256').update(session).digest('base64url').slice(0, 32) })
  t.match(headers['Authorization'], new RegExp(`^vapid t=.+, k=${signer.vapid.publicKey}$`))
})

t.test('a notice of no session replaces only its own retry, and leads to the app', async t => {
  const { headers, payload } = await got(t, { session: undefined, isSilent: true, lastsMs: -5, language: 'zh' })
  t.match(payload, { notification: { navigate: '/', tag: 'n1', lang: 'zh', silent: true, data: { session: undefined } } })
  t.match(headers, { TTL: '0', Topic: createHash('sha256').update('n1').digest('base64url').slice(0, 32) })
})

t.test('the urgency of a notice follows from its kind, and a silent one has the lowest', async t => {
  const urgencies: Record<Outgoing['kind'], string> = {
    ...{ done: 'normal', machine: 'normal', digest: 'normal', permission: 'high', question: 'high' },
    ...{ error: 'high', failed: 'high', silent: 'high', device: 'high', test: 'high' }
  }
  for (const kind of Object.keys(urgencies) as Outgoing['kind'][])
    t.equal((await sent(t, { kind }))?.headers['Urgency'], urgencies[kind], kind)
  t.equal((await sent(t, { isSilent: true }))?.headers['Urgency'], 'low')
})

t.test('a preview that a push service may not take is left out, and the notice is sent without it', async t => {
  const most = 3_993
  const preview = async (text: string) => (await sent(t, { preview: text }))?.payload.notification.data.preview
  const { payload } = await got(t, { preview: '' })
  const room = most - Buffer.byteLength(JSON.stringify(payload))
  t.equal(await preview('x'.repeat(room)), 'x'.repeat(room))
  t.equal(await preview('x'.repeat(room + 1)), undefined)
  t.equal(await preview('ü'.repeat(Math.ceil((room + 1) / 2))), undefined, 'in bytes')
})

t.test('only UnifiedPush closes what was answered by a message: a browser would have to show it', async t => {
  t.equal(await sent(t, { what: 'clear' }), undefined)
  t.match(await sent(t, { what: 'clear' }, { of: unifiedPush }), { payload: { notification: { data: { what: 'clear', notice: 'n1' } } } })
  const { outbound } = keptOutbound()
  t.match(webPush(outbound, signer), { kind: 'web-push', acknowledges: true, clears: false })
  t.match(unifiedPush(outbound, signer), { kind: 'unified-push', acknowledges: true, clears: true })
})

t.test('a subscription without an address, or with keys of other lengths, is refused', async t => {
  const { keys } = browser()
  for (const [provider, prefix] of [
    [webPush(keptOutbound().outbound, signer), 'WebPush'],
    [unifiedPush(keptOutbound().outbound, signer), 'UnifiedPush']
  ] as const) {
    const flawOf = (fields: object) => provider.flawOf(tokenOf(prefix, { endpoint, keys, ...fields }))
    t.equal(flawOf({}), undefined)
    t.equal(flawOf({ app: 'https://home.example', keys: { p256dh: `${keys.p256dh}=`, auth: `${keys.auth}==` } }), undefined)
    t.equal(flawOf({ keys: { ...keys, p256dh: keys.p256dh.slice(1) } }), `${prefix}: keys.p256dh is not a P-256 key`)
    t.equal(flawOf({ keys: { ...keys, auth: `${keys.auth}x` } }), `${prefix}: keys.auth is not a secret of 16 bytes`)
    t.match(flawOf({ keys: { auth: keys.auth } }), new RegExp(`^${prefix}: keys.p256dh `))
    t.match(flawOf({ keys: { p256dh: keys.p256dh } }), new RegExp(`^${prefix}: keys.auth `))
    t.match(flawOf({ endpoint: undefined }), new RegExp(`^${prefix}: endpoint `))
    t.match(flawOf({ more: 1 }), new RegExp(`^${prefix}: more `))
  }
})

t.test('the key pair of a server follows from its secret of 32 bytes', async t => {
  // One in 256 begins with a zero.
  for (let times = 0; times < 2_000; times += 1) if (freshVapidSecret().length !== 32) t.fail('a secret is shorter')
  const secret = randomBytes(32)
  secret[0] = 0
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(secret)
  t.same(vapidKeysOf(secret), { privateKey: secret.toString('base64url'), publicKey: pair.getPublicKey('base64url') })
})
