import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { type Device, openDevices } from '../kit/browser.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { pick } from './kit/daemon-world.ts'
import { pressAwake, run, say, world } from './kit/decision-world.ts'

const devices = await openDevices(t)
const refused = 'Nothing was changed: the screen lock was not confirmed.'

t.test('with an app lock only the owner turns on Full auto: in a session, after a plan or for a new session [H10]', async t => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'afield-auto-')))
  const args = ['run', '--', process.execPath, resolve('test/journeys/plan-agent.mjs')]
  const { phone, home } = await world(t, devices, { args, directory: folder })
  await withLock(phone)

  await phone.press('Ask first')
  await phone.page.getByLabel('Full auto').click()
  await phone.press('Use Full auto')
  await phone.see(refused)
  await phone.page.keyboard.press('Escape')
  await phone.page.locator('.composer .pill').filter({ hasText: 'Ask first' }).waitFor()

  await say(phone, 'Plan it')
  await phone.page.getByRole('heading', { name: 'Go ahead with this?' }).waitFor()
  await pick(phone, 'Session menu', 'Mode and model')
  await phone.page
    .getByRole('dialog')
    .getByRole('radio', { name: /^Ask first/, checked: true })
    .waitFor()
  await phone.page.keyboard.press('Escape')
  await phone.page.getByRole('dialog').waitFor({ state: 'detached' })
  await phone.page.getByRole('radio', { name: 'Full auto' }).check()
  await phone.hold(/^Hold to start/, refused)
  await ownerIsThere(phone)
  await phone.hold(/^Hold to start/, /Off I go/)
  await phone.page.locator('.composer .pill').filter({ hasText: 'Full auto' }).waitFor()

  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [folder] }))
  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  await phone.visit(`/new?folder=${encodeURIComponent(folder)}`)
  await phone.page.getByText('Demo agent', { exact: true }).click()
  await phone.page.getByText('Full auto', { exact: true }).click()
  await pressAwake(phone, /^Start in Full auto on/)
  await phone.see(refused)
  await ownerIsThere(phone)
  await pressAwake(phone, /^Start in Full auto on/)
  await phone.page.getByPlaceholder('Message Demo agent').waitFor()
})

t.test('nobody else can allow a risky command, and they are told so [H10] [U1]', async t => {
  const { phone } = await world(t, devices)
  await withLock(phone)
  await run(phone, 'rm -rf leaves')
  await phone.hold(/^Hold to run once/, refused)
  await ownerIsThere(phone)
  await phone.hold(/^Hold to run once/, 'Ran rm -rf leaves')
})

/** A lock that cannot be confirmed: with an IP address the browser verifies nobody. */
async function withLock({ page }: Device): Promise<void> {
  await page.evaluate(() => localStorage.setItem('afield-lock', JSON.stringify({ choice: 'risky', id: 'AAAA' })))
  await page.reload()
}

async function ownerIsThere({ page }: Device): Promise<void> {
  await page.evaluate(() => Object.assign(navigator.credentials, { get: async () => ({}) }))
}
