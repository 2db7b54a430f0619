import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { startWorld } from '../../client/world.ts'
import { pageGlobals } from '../kit/page-globals.ts'

const place = { origin: '' }
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
pageGlobals(t, {
  location: place,
  navigator: { userAgent, onLine: true, maxTouchPoints: 0 },
  matchMedia: () => ({ matches: false }),
  isSecureContext: false,
  BroadcastChannel: undefined
})
const { askForAccount } = await import('../../../web/join/account-request.ts')
const { lookAtLink } = await import('../../../web/join/pairing.ts')
const { account, openAccount, signOut } = await import('../../../web/model/account/account.ts')
const { adoptAccount } = await import('../../../web/model/account/sign-in.ts')
const { deviceDb } = await import('../../../web/core/device-db.ts')

t.before(openAccount)

/** A device without an account that asks for one, and a device that has it. */
async function start(t: Test, { forHappy = false } = {}) {
  const { url, rest, vault } = await startWorld(t)
  // A second between two questions whether it was answered.
  const { setTimeout: wait } = globalThis
  t.intercept(globalThis, 'setTimeout', { value: (run: () => void, ms: number) => wait(run, ms === 1000 ? 20 : ms) })
  place.origin = url
  t.teardown(signOut)
  const troubles: boolean[] = []
  const request = await askForAccount({ forHappy, onTrouble: hasTrouble => troubles.push(hasTrouble) })
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const look = async () => {
    const view = await lookAtLink({ rest, vault }, request.link)
    if (view.type !== 'ready') throw new Error(view.type)
    return view
  }
  return { ...{ vault, request, look, stop, troubles }, wait: () => request.wait(stop.signal) }
}

const stored = async () => Object(await (await deviceDb()).read('account'))

t.test('a device that was let in has the account, and its sign-in can be renewed', async t => {
  const { vault, request, look, wait } = await start(t)
  t.match(request.checkCode, /^\d{4}$/)
  const end = wait()
  const view = await look()
  t.match(view, { isDevice: true, getsAll: true, asker: { name: 'Firefox on Linux' } })
  t.match(await view.answer(request.checkCode ?? ''), { type: 'linked' })
  t.equal(await end, 'linked')
  const secret = Buffer.from(vault.secret).toString('base64')
  t.match(await stored(), { secret, token: String, renewal: { deviceSeed: String }, deviceName: 'Firefox on Linux', remindAt: Number })
  t.equal(account.value.type, 'here')
})

t.test('a device that was refused has nothing', async t => {
  const { request, look, wait } = await start(t)
  const end = wait()
  await (await look()).refuse()
  t.equal(await end, 'expired')
  t.same([await stored(), account.value.type, request.checkCode?.length], [{}, 'none', 4])
})

t.test('the format of existing apps has no check code, and gives the account all the same', async t => {
  const { vault, request, look, wait } = await start(t, { forHappy: true })
  t.equal(request.checkCode, undefined)
  const end = wait()
  while (!(await look().catch(() => undefined))) await new Promise(setImmediate)
  t.match(await (await look()).answer(''), { type: 'linked' })
  t.equal(await end, 'linked')
  t.match(await stored(), { secret: Buffer.from(vault.secret).toString('base64'), token: String, deviceName: 'Firefox on Linux' })
  t.equal((await stored()).renewal, undefined)
})

t.test('the key of another account that came here meanwhile stays', async t => {
  for (const forHappy of [false, true]) {
    const { request, look, wait } = await start(t, { forHappy })
    const end = wait()
    while (!(await look().catch(() => undefined))) await new Promise(setImmediate)
    await adoptAccount({ secret: 'b3RoZXI=', token: 'other', deviceName: 'Phone' })
    await (await look()).answer(request.checkCode ?? '')
    t.equal(await end, 'has-account')
    t.match(await stored(), { secret: 'b3RoZXI=' })
    await signOut()
  }
})
