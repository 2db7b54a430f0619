import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Computer, furnishComputer } from '../../interop/computer.ts'
import { findHappy, happy, happyVersion } from '../../interop/happy.ts'
import { Steps } from '../../interop/steps.ts'
import type { Device, openDevices } from '../../kit/browser.ts'
import { lacksPublished } from '../../kit/needs.ts'
import { startServerProcess } from '../../kit/server.ts'

const entry = findHappy()
const shots = process.env['SHOTS']

/** Why journeys with the published CLI are skipped; false if it is installed. */
export const withoutHappy = lacksPublished()

/** A phone with an account, and a computer with the published CLI and an empty folder to work in. */
export async function happyWorld(t: Test, devices: Awaited<ReturnType<typeof openDevices>>) {
  if (entry === undefined) throw new Error('There is no such CLI here.')
  // Outside this repository, because the CLI looks for one.
  const folder = mkdtempSync(join(tmpdir(), 'afield-happy-'))
  const project = join(folder, 'project')
  mkdirSync(project)
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const server = await startServerProcess(t, { data: join(folder, 'data'), args: ['--idle-after-ms', '2000'] })
  const steps = new Steps(line => t.comment(line))
  const teardown = (end: () => unknown) => t.teardown(end)
  const computer = furnishComputer({ entry, folder, steps, form: 2, teardown }, server.url)
  const phone = await devices.open(t, server.url)
  // The CLI starts slowly.
  phone.page.setDefaultTimeout(60_000)
  await phone.createAccount()
  return { folder, project, computer, phone }
}

/** Pairs the computer by the link it prints. Resolves to the exit code of its sign-in. */
export async function pairWithHappy(computer: Computer, phone: Device): Promise<unknown> {
  const login = happy(computer, ['auth', 'login'], { terminal: true })
  await login.prints(/How would you like to authenticate/)
  login.child.stdin?.write('1')
  const [link] = await login.prints(/happy:\/\/terminal\?[\w-]{43}/)
  await phone.visit('/scan')
  await phone.write('Paste a link', link)
  await phone.press('Continue')
  await phone.see('This program shows no check code.')
  await shoot(phone, 'pair')
  await phone.hold('Hold to link', 'Linked')
  await login.prints(/Authentication successful/)
  return login.ended
}

/** Starts the computer's daemon, and opens its page. */
export async function startHappyDaemon(computer: Computer, phone: Device): Promise<void> {
  happy(computer, ['daemon', 'start-sync'])
  await phone.visit('/machines')
  await phone.see('Online')
  await openMachine(phone)
  await phone.see(happyVersion)
}

export async function openMachine(phone: Device): Promise<void> {
  await phone.visit('/machines')
  await phone.page.locator('main a[href^="/machines/"]').first().click()
}

export function conversation({ page }: Device, text: string) {
  return page.getByRole('log').getByText(text, { exact: true })
}

/** Selects a mode of the agent by its name in the app. */
export async function chooseMode({ page }: Device, name: string, confirm?: string): Promise<void> {
  await page.locator('.composer .pill[aria-haspopup=dialog]').click()
  // The menu closes as soon as it is pressed.
  await page.getByRole('dialog').getByText(name, { exact: true }).click()
  if (confirm !== undefined) await page.getByRole('dialog').getByRole('button', { name: confirm }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.locator('.composer .pill').filter({ hasText: name }).waitFor()
}

export async function shoot(phone: Device, name: string): Promise<void> {
  if (shots !== undefined) await phone.screenshot(join(shots, `happy-${name}.png`))
}
