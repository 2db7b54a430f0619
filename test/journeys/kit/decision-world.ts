import type { Test } from 'tap'
import { formatBackupKey } from '../../../lib/crypto/index.ts'
import type { Device, openDevices } from '../../kit/browser.ts'
import { type ServerProcess, startServerProcess } from '../../kit/server.ts'
import { linkedComputer } from '../../wrapper/kit/world.ts'
import { runWrapper } from '../../wrapper/kit/wrapper.ts'

type Devices = Awaited<ReturnType<typeof openDevices>>

/** A phone with an account and an agent's session on its screen; a second device of the account observes it. */
export async function world(t: Test, devices: Devices, wrapper: { args: string[]; directory?: string } = { args: ['demo'] }) {
  const server = await startServerProcess(t)
  const { phone: account, home } = await linkedComputer(t, server)
  const phone = await openPhone(t, devices, server, account.secret)
  runWrapper(t, { home, ...wrapper })
  const session = await account.session()
  await phone.visit(`/s/${session.id}`)
  return { server, home, phone, session, secret: account.secret }
}

async function openPhone(t: Test, devices: Devices, server: Pick<ServerProcess, 'url'>, secret: Uint8Array): Promise<Device> {
  const phone = await devices.open(t, server.url)
  phone.page.setDefaultTimeout(20_000)
  await phone.visit('/restore')
  await phone.write('Account key', formatBackupKey(secret))
  await phone.press('Restore')
  await phone.see('Live')
  return phone
}

export async function say(phone: Device, text: string): Promise<void> {
  await phone.page.getByRole('textbox', { name: /message/i }).fill(text)
  await phone.page.getByRole('button', { name: /^(Send|Queue)/ }).click()
}

export const run = (phone: Device, command: string) => say(phone, `SCRIPT: tool exec ${JSON.stringify({ command })}`)
export const ask = (phone: Device) => phone.page.getByRole('heading', { name: 'Run this command?' })

/** Presses a button once it is there and no longer inert. */
export async function pressAwake(phone: Device, name: string | RegExp): Promise<void> {
  const button = phone.page.getByRole('button', { name }).first()
  await button.waitFor()
  const awakeAt = (await phone.page.evaluate(() => performance.now())) + 450
  await phone.page.waitForFunction(at => performance.now() > at, awakeAt)
  await button.click()
}
