import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcpProxy, type TcpProxy } from '../kit/tcp-proxy.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

const devices = await openDevices(t)

/** A browser whose connection to the server a test can stall, with an open session of the demo agent. */
async function world(t: Test): Promise<{ device: Device; line: TcpProxy; session: PhoneSession }> {
  const server = await startServerProcess(t)
  const { phone: witness, home } = await linkedComputer(t, server)
  runWrapper(t, { home, args: ['demo'] })
  const session = await witness.session()
  const line = await openTcpProxy(t, server.url)
  const device = await devices.open(t, line.url)
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(witness.secret))
  await device.press('Restore')
  await device.see('Live')
  await device.visit(`/s/${session.id}`)
  await say(device, session, 'Apples are in.')
  return { device, line, session }
}

async function say(device: Device, session: PhoneSession, text: string): Promise<void> {
  await session.say(`SCRIPT: text ${text}`)
  await conversation(device, text).waitFor()
}

function conversation({ page }: Device, text: string) {
  return page.getByRole('log').getByText(text, { exact: true })
}

t.test(
  'a hanging connection is reported as such, with the next attempt; messages sent meanwhile arrive after it, once [S1 S4]',
  async t => {
    const { device, line, session } = await world(t)
    line.stall()
    await session.say('SCRIPT: text Pears are in.')
    await device.page.getByText('The server is not responding').waitFor({ timeout: 45_000 })
    t.equal(await device.page.locator('.horizon').getAttribute('data-state'), 'stale', 'the screen says that it may be old')
    // Now the server is gone: attempts fail at once, and the delays between them grow.
    await line.closePort()
    await device.page.getByText(/Retrying in \d+ s/).waitFor({ timeout: 45_000 })
    t.equal(await conversation(device, 'Pears are in.').count(), 0)

    line.heal()
    await line.openPort()
    // If it reconnects first, there is nothing to press.
    await device.page
      .getByRole('button', { name: 'Retry now' })
      .click({ timeout: 2_000 })
      .catch(() => {})
    await conversation(device, 'Pears are in.').waitFor()
    await device.seeNoMore('The server is not responding')
    t.equal(await conversation(device, 'Pears are in.').count(), 1)
    t.equal(await conversation(device, 'Apples are in.').count(), 1)
  }
)

t.test('a phone that slept for an hour is up to date as soon as it wakes, without a jump or a repeat [S1 S4]', async t => {
  const { device, line, session } = await world(t)
  const cdp = await device.context.newCDPSession(device.page)
  await cdp.send('Page.setWebLifecycleState', { state: 'frozen' })
  // The connection dies silently, as when a phone sleeps.
  line.halfOpen()
  await session.say('SCRIPT: text Pears are in.')
  await cdp.send('Page.setWebLifecycleState', { state: 'active' })
  const before = await device.page.evaluate(() => {
    const wall = Date.now
    Date.now = () => wall() + 3600_000
    const top = document.querySelector('[role=log]')?.scrollTop ?? 0
    document.dispatchEvent(new Event('visibilitychange'))
    return { top, at: performance.now() }
  })
  await conversation(device, 'Pears are in.').waitFor()
  const took = (await device.page.evaluate(() => performance.now())) - before.at
  t.ok(took < 15_000, `${Math.round(took)} ms: no sign of life was waited for`)
  t.equal(await conversation(device, 'Pears are in.').count(), 1)
  t.equal(await conversation(device, 'Apples are in.').count(), 1)
  t.equal(await device.page.getByText('The server is not responding').count(), 0)
})
