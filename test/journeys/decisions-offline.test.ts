import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { ask, pressAwake, run, world } from './kit/decision-world.ts'

const devices = await openDevices(t)

t.test(
  'a plain decision made offline waits on the phone, can be withdrawn, and is applied when the link returns, also after the app was closed [acceptance 2] [U2]',
  async t => {
    const { phone, server, session } = await world(t, devices)
    await run(phone, 'echo hello')
    await ask(phone).waitFor()
    await server.kill()
    await phone.see('No connection.')
    await pressAwake(phone, 'Allow once')
    await phone.see('sent when you are back online')
    await phone.press('Withdraw')
    await phone.page.getByRole('button', { name: 'Allow once' }).waitFor()
    await pressAwake(phone, 'Allow once')
    await phone.see('sent when you are back online')
    t.same(session.state.completedRequests ?? {}, {}, 'nothing was decided')
    await phone.page.goto('about:blank')
    await startServerProcess(t, { data: server.data, port: Number(new URL(server.url).port) })
    // The session itself is not opened again.
    await phone.visit('/')
    await session.until(({ state }) => Object.values(state.completedRequests ?? {})[0]?.status === 'approved')
  }
)
