import t from 'tap'
import { NoPushService, register, unregister } from '../../../../web/model/notifications/push-subscription.ts'

/** A browser, a server and the storage of this device, as far as registration needs them. */
function world({ canSubscribe = true } = {}) {
  const kept = new Map<string, unknown>()
  const asked: string[] = []
  let subscription: PushSubscription | null = null
  let made = 0
  const state = { key: 'BAAA' }
  const pushManager = {
    getSubscription: async () => subscription,
    async subscribe({ applicationServerKey }: { applicationServerKey: string }) {
      if (!canSubscribe) throw new DOMException('Registration failed', 'AbortError')
      const endpoint = `https://push.example/${++made}`
      const fake = {
        options: { applicationServerKey: Uint8Array.from(Buffer.from(applicationServerKey, 'base64url')).buffer },
        toJSON: () => ({ endpoint, keys: { p256dh: 'p', auth: 'a' } }),
        async unsubscribe() {
          asked.push(`unsubscribe ${endpoint}`)
          subscription = null
          return true
        }
      }
      subscription = fake as unknown as PushSubscription
      return subscription
    }
  }
  const call = async (name: string, request: { body?: { token: string }; params?: { token: string } }) => {
    if (name === 'readPushKey') return { key: state.key }
    asked.push(`${name} ${endpointOf(request.body?.token ?? request.params?.token ?? '')}`)
    return { success: true }
  }
  const link = {
    rest: { call },
    registration: { pushManager },
    db: {
      read: async (name: string) => kept.get(name),
      write: async (name: string, value: unknown) => void kept.set(name, value),
      remove: async (name: string) => void kept.delete(name)
    },
    app: 'https://home.example'
  }
  // Only the members that are used.
  return { link: link as unknown as Parameters<typeof register>[0], asked, kept, state }
}

function endpointOf(token: string): string {
  const [, said = ''] = /^WebPush\[(.*)\]$/.exec(token) ?? []
  const { endpoint, keys, app } = JSON.parse(Buffer.from(said, 'base64url').toString())
  if (keys.p256dh !== 'p' || keys.auth !== 'a' || app !== 'https://home.example') throw new Error('not as the server wants it')
  return endpoint
}

t.test('the server gets the same subscription at each start', async t => {
  const { link, asked } = world()
  await register(link)
  await register(link)
  t.same(asked, ['addPushToken https://push.example/1', 'addPushToken https://push.example/1'])
})

t.test('with another key the browser subscribes again, and the server forgets the old subscription', async t => {
  const { link, asked, state } = world()
  await register(link)
  state.key = 'BBBB'
  await register(link)
  t.same(asked.slice(1), [
    'unsubscribe https://push.example/1',
    'addPushToken https://push.example/2',
    'removePushToken https://push.example/1'
  ])
})

t.test('when turned off, browser and server both forget it', async t => {
  const { link, asked, kept } = world()
  await register(link)
  await unregister(link)
  t.same(asked.slice(1), ['unsubscribe https://push.example/1', 'removePushToken https://push.example/1'])
  t.equal(kept.size, 0)
})

t.test('a missing push service and an unreachable server are distinguished', async t => {
  const { link, asked } = world({ canSubscribe: false })
  await t.rejects(register(link), NoPushService)
  t.same(asked, [])
})
