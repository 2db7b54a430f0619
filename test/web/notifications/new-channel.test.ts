import t from 'tap'
import type { ReplyOf } from '../../../lib/protocol/wire/routes.ts'
import type { Live } from '../../../web/model/account/live.ts'
import {
  addNtfy,
  addWebhook,
  newTopic,
  newWebhookSecret,
  ntfyLink,
  readAddress,
  removeWithUndo
} from '../../../web/notifications/new-channel.ts'

type Channel = ReplyOf<'readNotifications'>['channels'][number]

const health = { sent: 0, arrived: 0, typicalMs: null, slowestMs: null, last: [] }
const channel = (id: string, given: Partial<Channel>): Channel => ({
  ...{ id, kind: 'ntfy', isOwn: true, device: 'Phone', createdAt: 1, updatedAt: 1, acknowledges: false, health },
  ...given
})

/** A server that lists these channels and accepts every token. */
function server(channels: readonly Channel[]) {
  const added: string[] = []
  const tested: unknown[] = []
  const removed: unknown[] = []
  const call = async (name: string, { body, params }: { body?: Record<string, string>; params?: Record<string, string> }) => {
    if (name === 'addPushToken') added.push(body?.['token'] ?? '')
    if (name === 'removeChannel') removed.push(params?.['id'])
    if (name === 'readNotifications') return { settings: null, channels }
    if (name === 'listPushTokens') return { tokens: [{ id: 'c1', token: 'Ntfy[whole]', createdAt: 1, updatedAt: 1 }] }
    if (name !== 'testNotification') return { success: true }
    tested.push(body?.['channel'])
    return { channels: [{ id: body?.['channel'], outcome: 'accepted', reason: null }] }
  }
  return { added, tested, removed, link: { rest: { server: '', call } } as unknown as Pick<Live, 'rest'> }
}

function fieldsOf(token: string | undefined): unknown {
  const [, prefix, text] = /^(\w+)\[(.*)\]$/.exec(token ?? '') ?? []
  return [prefix, JSON.parse(Buffer.from(text ?? '', 'base64url').toString())]
}

t.beforeEach(t => t.intercept(globalThis, 'location', { value: { origin: 'https://home.example' } }))

t.test('ntfy and a webhook are registered in the form that providers parse, and a new one is tested', async t => {
  const there = server([
    channel('c1', {}),
    channel('c2', { updatedAt: 9 }),
    channel('c3', { updatedAt: 10, isOwn: false }),
    channel('c4', { kind: 'webhook' })
  ])
  const added = await addNtfy(there.link, { url: 'https://ntfy.sh/x', token: '' })
  t.match(added, { channel: { id: 'c2' }, tried: { outcome: 'accepted' } })
  await addNtfy(there.link, { url: 'https://ntfy.home/ä', token: 'tk_1' })
  await addWebhook(there.link, { url: 'https://home.example/hook', secret: 'whsec_x' })
  const app = 'https://home.example'
  t.same(there.added.map(fieldsOf), [
    ['Ntfy', { url: 'https://ntfy.sh/x', app }],
    ['Ntfy', { url: 'https://ntfy.home/ä', token: 'tk_1', app }],
    ['Webhook', { url: 'https://home.example/hook', secret: 'whsec_x', app }]
  ])
  t.same(there.tested, ['c2', 'c2', 'c4'])
})

t.test('a channel added here can be edited, and one added by another device cannot', async t => {
  const there = server([])
  const putBack = await removeWithUndo(there.link, channel('c1', {}))
  t.same(there.removed, ['c1'])
  await putBack?.()
  t.same(there.added, ['Ntfy[whole]'])
  t.equal(await removeWithUndo(there.link, channel('c1', { isOwn: false })), undefined)
})

t.test('an address without a topic gets a random one, and an invalid web address none', async t => {
  t.match(newTopic(), /^afield-[A-Za-z0-9_-]{20}$/)
  t.not(newTopic(), newTopic())
  t.equal(readAddress(' https://ntfy.home ', 'afield-x'), 'https://ntfy.home/afield-x')
  t.equal(readAddress('https://ntfy.home/mine', 'afield-x'), 'https://ntfy.home/mine')
  t.equal(readAddress('http://10.0.0.2:8080', 'afield-x'), 'http://10.0.0.2:8080/afield-x')
  t.equal(readAddress('https://home.example/'), 'https://home.example/')
  for (const typed of ['', 'ntfy.sh/x', 'javascript:alert(1)', 'ftp://ntfy.home/x']) t.equal(readAddress(typed, 'x'), undefined, typed)
  t.equal(ntfyLink('https://ntfy.sh/x'), 'ntfy://ntfy.sh/x')
  t.equal(ntfyLink('http://10.0.0.2/x'), 'ntfy://10.0.0.2/x?secure=false')
})

t.test('the generated secret of a webhook is accepted by the server', async t => {
  t.match(newWebhookSecret(), /^whsec_[A-Za-z0-9+/]{43}=$/)
})
