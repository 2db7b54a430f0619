import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { webhookPush } from '../../../lib/server/push/webhook.ts'
import type { Outgoing } from '../../../lib/server/push.ts'
import { keptOutbound, never, outgoing, session } from './outgoing.ts'
import { tokenOf } from './stand-in.ts'

const url = 'https://hook.example/'
const key = Buffer.from('a key of twenty-four byte')
const secret = `whsec_${key.toString('base64')}`

/** The one request that a notice becomes. */
async function askedFor(t: Test, fields: object, more: Partial<Outgoing> = {}) {
  const { outbound, asked } = keptOutbound()
  const provider = webhookPush(outbound, () => 1_999)
  const token = tokenOf('Webhook', { url, secret, ...fields })
  t.same(await provider.send([outgoing({ token, ...more })], never), [{ outcome: 'accepted' }])
  t.match(asked, [{ url }])
  const [{ headers, body } = { headers: {}, body: '' }] = asked
  return { headers: headers as Record<string, string>, text: String(body), event: JSON.parse(String(body)) }
}

t.test('a request says what happened, and is signed over its id, time and body', async t => {
  const { headers, text, event } = await askedFor(t, { app: 'https://home.example' })
  t.strictSame(event, {
    type: 'notification',
    timestamp: '2026-01-15T13:00:00.000Z',
    data: {
      ...{ id: 'n1', kind: 'permission', session, title: 'A title', body: 'A body', silent: false },
      url: 'https://home.example/s/session-1'
    }
  })
  t.strictSame(headers, {
    'Content-Type': 'application/json',
    'Webhook-Id': 'n1-show',
    'Webhook-Timestamp': '1',
    'Webhook-Signature': `v1,${createHmac('sha256', key).update(`n1-show.1.${text}`).digest('base64')}`
  })
})

t.test('without a session or the address of the app there is nothing to open', async t => {
  t.strictSame((await askedFor(t, {}, { session: undefined, isSilent: true })).event.data, {
    ...{ id: 'n1', kind: 'permission', title: 'A title', body: 'A body', silent: true }
  })
  t.equal((await askedFor(t, { app: 'https://home.example/app' }, { session: undefined })).event.data.url, 'https://home.example/')
})

t.test('what was answered is reported as settled, without its texts', async t => {
  const { headers, event } = await askedFor(t, { app: 'https://home.example' }, { what: 'clear' })
  t.strictSame(event, {
    ...{ type: 'notification.settled', timestamp: '2026-01-15T13:00:00.000Z', data: { id: 'n1', kind: 'permission', session } }
  })
  t.equal(headers['Webhook-Id'], 'n1-clear')
})

t.test('a webhook needs an address and a long secret', async t => {
  const provider = webhookPush(keptOutbound().outbound, () => 1)
  t.match(provider, { kind: 'webhook', acknowledges: false, clears: true })
  const flawOf = (fields: object) => provider.flawOf(tokenOf('Webhook', { url, secret, ...fields }))
  t.equal(flawOf({}), undefined)
  t.equal(flawOf({ secret: `whsec_${'+/'.repeat(16)}` }), undefined)
  t.equal(flawOf({ secret: `whsec_${'A'.repeat(88)}==` }), undefined)
  for (const bad of [
    `whsec_${'A'.repeat(31)}`,
    `whsec_${'A'.repeat(89)}`,
    'A'.repeat(40),
    `whsec_${'A'.repeat(40)}===`,
    ` whsec_${'A'.repeat(40)}`
  ])
    t.equal(flawOf({ secret: bad }), 'Webhook: secret is not a secret that begins with whsec_', bad)
  t.match(flawOf({ more: 1 }), /^Webhook: more /)
  t.match(flawOf({ url: 'hook.example' }), /^Webhook: url is not a web address/)
})
