import { join, resolve } from 'node:path'
import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { say, world } from './kit/decision-world.ts'

const devices = await openDevices(t)

t.test('other options of an agent are chosen next to its mode, and its pictures are shown', async t => {
  const args = ['run', '--', process.execPath, resolve('test/wrapper/agents/odd-agent.mjs'), '--settings']
  const { phone, session } = await world(t, devices, { args })
  const { page } = phone
  await session.until(({ metadata }) => metadata.agentSettings !== undefined)
  await page.getByRole('button', { name: /Ask first/ }).click()
  const fast = page.getByRole('group', { name: 'Fast' })
  await fast.getByText('Costs more.').waitFor()
  await fast.locator('label', { hasText: 'On' }).click()
  await session.until(({ metadata }) => metadata.agentSettings?.[0]?.current === 'true')
  await page.getByRole('group', { name: 'Tone' }).locator('label', { hasText: 'warm' }).click()
  await session.until(({ metadata }) => metadata.agentSettings?.[1]?.current === 'warm')
  t.ok(await fast.getByRole('radio', { name: 'On' }).isChecked())
  if (process.env['SHOTS']) await phone.screenshot(join(process.env['SHOTS'], 'settings.png'))
  await page.getByRole('button', { name: 'Close' }).click()

  await say(phone, 'show')
  await page.waitForFunction(() => document.querySelectorAll('.att-pic').length === 3)
  const first = page.locator('.att-pic').first()
  t.match(await first.evaluate(picture => (picture as HTMLImageElement).decode().then(() => (picture as HTMLImageElement).src)), /^blob:/)
  await phone.see('[audio, audio/wav, 1 kB]')
  if (process.env['SHOTS']) await phone.screenshot(join(process.env['SHOTS'], 'shown.png'))
})
