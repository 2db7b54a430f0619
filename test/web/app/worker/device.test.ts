import 'fake-indexeddb/auto'
import t from 'tap'
import { createRest, cryptoReady, signIn } from '../../../../lib/client/index.ts'
import { toBase64 } from '../../../../lib/crypto/index.ts'
import { openDevice, readDevice } from '../../../../web/app/worker/device.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { currentDevice } from '../../../../web/model/account/devices.ts'
import { changeWorkerSettings, defaultSettings } from '../../../../web/model/notifications/worker-settings.ts'
import { startServer } from '../../../kit/server.ts'

const told: unknown[] = []
const secret = new Uint8Array(32).fill(7)
const account = { secret: toBase64(secret), deviceName: 'Phone', createdAt: 1 }
const store = async (kept: object) => (await deviceDb()).write('account', kept)

class Channel extends EventTarget {
  postMessage(message: unknown): void {
    told.push(message)
  }
}

t.before(async () => {
  await cryptoReady()
  const { url } = await startServer(t)
  t.intercept(globalThis, 'location', { value: { origin: url } })
  t.intercept(globalThis, 'BroadcastChannel', { value: Channel })
})

t.test('without a sign-in the worker knows nothing, and counts as locked', async t => {
  for (const kept of [undefined, account, { ...account, unlinkedAt: 5 }]) {
    if (kept) await store(kept)
    t.equal(await openDevice(), undefined)
    t.same(await readDevice(), { device: undefined, choices: defaultSettings })
  }
  t.same(defaultSettings, { isLocked: true, mayAllow: false, language: 'en' })
})

t.test('signed in, the worker asks the server as this device, and knows what the app chose', async t => {
  const { token, renewal } = await signIn({ server: location.origin, secret, fetch, deviceName: 'Phone' })
  await store({ ...account, token, renewal })
  await changeWorkerSettings(await deviceDb(), { isLocked: false, language: 'zh' })
  const { device, choices } = await readDevice()
  t.same(choices, { isLocked: false, mayAllow: false, language: 'zh' })
  t.equal(device?.name, 'Phone')
  t.same(device?.secret(), secret)
  const answer = await device?.rest.call('listDevices', {})
  t.match(answer?.devices, [{ name: 'Phone', current: true }])
})

t.test('a token that ran out is renewed, stored, and told to the pages', async t => {
  const { token, renewal } = await signIn({ server: location.origin, secret, fetch, deviceName: 'Phone' })
  await store({ ...account, token, renewal: renewal && { ...renewal, expiresAt: Date.now() } })
  told.length = 0
  const device = await openDevice()
  await device?.rest.call('listDevices', {})
  t.match(told, [{ type: 'account-changed' }])
  const kept = Object(await (await deviceDb()).read('account'))
  t.match(kept, { deviceName: 'Phone', token: String })
  t.not(kept.token, token)
  t.ok(kept.renewal.expiresAt > Date.now() + 3600_000)
  await createRest({ server: location.origin, token: kept.token, fetch }).call('removeDevice', { params: { id: currentDevice } })
  await t.rejects(
    async () => device?.rest.call('listDevices', {}),
    { name: 'Refused', status: 401 },
    'a sign-in that the server ended stays ended'
  )
})
