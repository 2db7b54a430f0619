import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { formatBackupKey } from '../../../lib/crypto/index.ts'
import type { Device, DeviceLook, openDevices } from '../../kit/browser.ts'
import { startServerProcess } from '../../kit/server.ts'
import type { Phone, PhoneSession } from '../../wrapper/kit/phone.ts'
import { linkedComputer } from '../../wrapper/kit/world.ts'
import { runWrapper } from '../../wrapper/kit/wrapper.ts'

type Devices = Awaited<ReturnType<typeof openDevices>>

/** A browser signed in to an account whose computer runs a daemon, and a session in which the demo agent said something. */
export async function worldWithDaemon(t: Test, devices: Devices, said: string, look: DeviceLook = {}) {
  const server = await startServerProcess(t)
  const { phone: witness, home } = await linkedComputer(t, server)
  const code = join(home, '..', 'code')
  mkdirSync(code, { recursive: true })
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [code] }))
  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  const device = await devices.open(t, server.url, look)
  device.page.setDefaultTimeout(20_000)
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(witness.secret))
  await device.press('Restore')
  await device.see('Live')
  const session = await startTalk(t, { witness, home, code }, said)
  await device.visit('/')
  await row(device, said).waitFor()
  return { device, witness, home, session, code, daemon, url: server.url }
}

async function startTalk(
  t: Test,
  { witness, home, code }: { witness: Phone; home: string; code: string },
  said: string
): Promise<PhoneSession> {
  const before = await witness.sessions()
  runWrapper(t, { home, args: ['demo', '--folder', code] })
  const session = await witness.session(before.map(({ id }) => id))
  await tell(session, said)
  return session
}

async function tell(session: PhoneSession, said: string): Promise<void> {
  await session.say(`SCRIPT: text ${said}`)
  await session.until(({ events }) => events().some(event => event.t === 'text' && event.text.includes(said)))
}

export function row({ page }: Device, text: string | RegExp) {
  return page.locator('.list-pane, .main').getByRole('listitem').filter({ hasText: text, visible: true }).first()
}

/** Opens a menu by the name of its button, and chooses an item. */
export async function pick({ page }: Device, title: string | RegExp, what: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: title }).filter({ visible: true }).first().click()
  await page.getByRole('menuitem', { name: what, exact: true }).click()
}
