import t from 'tap'
import { type Device, openDevices } from '../kit/browser.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { worldWithDaemon } from './kit/daemon-world.ts'

const devices = await openDevices(t)

t.test(
  'a session for a machine that is away waits on the phone, survives a restart of the app, and starts when the machine returns [U4]',
  async t => {
    const { device, daemon, home, witness, code } = await worldWithDaemon(t, devices, 'Apples are in.')
    const { page } = device
    await device.visit('/machines')
    await page.getByRole('link', { name: /agents? running/ }).click()
    await page.waitForURL(/\/machines\/.+/)
    const machine = new URL(page.url()).pathname.split('/').at(-1)
    const query = new URLSearchParams({ machine: machine ?? '', folder: code, prompt: 'SCRIPT: text Pears are pruned.' })
    await device.visit(`/new?${query}`)
    // From now on the machine's options are known.
    await page.getByText('Demo agent', { exact: true }).waitFor()
    await daemon.kill('SIGKILL')
    await askLater(device)
    await device.press(/^Withdraw/)
    await device.seeNoMore('Waiting to be sent')

    await device.visit(`/new?${query}`)
    await askLater(device)
    await page.reload()
    await device.see(/^Start Demo agent in /)
    const before = await witness.sessions()
    runWrapper(t, { home, args: ['daemon', 'run'] })
    const begun = await witness.session(before.map(({ id }) => id))
    await begun.until(({ events }) => events().some(event => event.t === 'text' && event.text.includes('Pears are pruned.')))
    await device.seeNoMore('Waiting to be sent')
  }
)

async function askLater(device: Device): Promise<void> {
  // Its agents are still running, only the daemon is not.
  await device.page.getByRole('button', { name: 'Start when its daemon runs' }).waitFor()
  await device.see(/^The daemon on .+ is not running$/)
  await device.page.getByText('Demo agent', { exact: true }).click()
  await device.press(/^Start when /)
  await device.see('Waiting to be sent')
}
