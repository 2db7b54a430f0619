import { join } from 'node:path'
import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { openRules } from '../../lib/wrapper/approvals/rules.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { pick, row } from './kit/daemon-world.ts'
import { ask, pressAwake, run, say } from './kit/decision-world.ts'
import { bringLink } from './kit/linking.ts'

const devices = await openDevices(t)
const hours = 3600_000

for (const [words, byMs] of [
  ['3 h ahead', 3 * hours],
  ['2 h behind', -2 * hours]
] as const) {
  t.test(`a device whose clock is ${words} says so, and works like any other`, async t => {
    const server = await startServerProcess(t)
    const { phone: witness, home } = await linkedComputer(t, server)
    const device = await openWithClock(t, server.url, byMs)
    await device.visit('/restore')
    await device.write('Account key', formatBackupKey(witness.secret))
    await device.press('Restore')
    await device.see(`This device's clock is ${words}`)
    if (process.env['SHOTS']) await device.screenshot(join(process.env['SHOTS'], `clock-${words.replaceAll(' ', '-')}.png`))

    runWrapper(t, { home, args: ['demo'] })
    const session = await witness.session()
    await device.visit(`/s/${session.id}`)
    await say(device, 'SCRIPT: text The pears are ripe.')
    await device.page.getByRole('log').getByText('The pears are ripe.', { exact: true }).waitFor()
    await device.see(/^Read by/)
    await run(device, 'echo one')
    await ask(device).waitFor()
    await pressAwake(device, 'Always…')
    await device.page.getByRole('radio', { name: '2 hours' }).check()
    await pressAwake(device, 'Allow for 2 hours')
    await ask(device).waitFor({ state: 'hidden' })
    const [rule] = openRules(home).read().rules
    t.ok(Math.abs((rule?.endsAt ?? 0) - Date.now() - 2 * hours) < 5 * 60_000, 'a rule ends when it was said to end')

    await say(device, 'SCRIPT: slow 30000 a b c d e f')
    await device.see('Working')
    t.equal(await device.page.getByText(/^No output for/).count(), 0)
    await device.visit('/')
    await row(device, /demo/).getByText('now', { exact: true }).waitFor()
    t.equal(await device.page.getByText(/^No output for/).count(), 0)

    await device.visit(`/s/${session.id}`)
    await pick(device, 'Session menu', 'Archive')
    await device.visit('/archive')
    await row(device, /demo/).waitFor()
  })
}

t.test('a device with a wrong clock links another one, and notices when the time is right', async t => {
  const server = await startServerProcess(t)
  const phone = await openWithClock(t, server.url, -5 * hours)
  await phone.createAccount()
  await phone.see("This device's clock is 5 h behind")
  const tablet = await openWithClock(t, server.url, 26 * hours)
  await tablet.visit('/link')
  const checkCode = await bringLink(tablet, phone)
  await phone.write('Check code', checkCode)
  await phone.hold('Hold to link', 'The other device has your account now.')
  await tablet.see('No sessions here yet')

  await phone.visit('/')
  await phone.see("This device's clock is 5 h behind")
  await phone.page.evaluate(() => Reflect.set(globalThis, 'clockOffMs', 0))
  await phone.press('Try again')
  await phone.seeNoMore("This device's clock is")
})

/** Only the app's clock is wrong; those of the browser's key store and of the server are right. */
async function openWithClock(t: Test, url: string, byMs: number): Promise<Device> {
  const device = await devices.open(t, url)
  device.page.setDefaultTimeout(20_000)
  await device.context.addInitScript(byMs => {
    const Right = Date
    Reflect.set(globalThis, 'clockOffMs', byMs)
    const now = () => Right.now() + Number(Reflect.get(globalThis, 'clockOffMs'))
    globalThis.Date = new Proxy(Right, {
      construct: (_, given) => (given.length === 0 ? new Right(now()) : Reflect.construct(Right, given)),
      get: (target, name) => (name === 'now' ? now : Reflect.get(target, name))
    })
  }, byMs)
  return device
}
