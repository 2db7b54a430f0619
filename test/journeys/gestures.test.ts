import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { pick, row, worldWithDaemon } from './kit/daemon-world.ts'
import { pressAwake } from './kit/decision-world.ts'
import { drag, press } from './kit/touch.ts'

const devices = await openDevices(t)
const run = (command: string) => `SCRIPT: tool exec ${JSON.stringify({ command })}`

t.test('a swipe leads from decision to decision, and a new one moves nothing under the finger [U6]', async t => {
  const { device, witness, home, session } = await worldWithDaemon(t, devices, 'Apples are in.')
  const { page } = device
  await session.say(run('echo first'))
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  await device.visit('/needs-you')
  const command = (text: string) => page.locator('.dock .cmd', { hasText: text })
  await command('echo first').waitFor()
  await device.see('1 of 1')

  const known = await witness.sessions()
  runWrapper(t, { home, args: ['demo'] })
  const other = await witness.session(known.map(({ id }) => id))
  await other.say(run('echo second'))
  await device.see('1 of 2')
  t.ok(await command('echo first').isVisible(), 'the decision being read stays')

  await drag(page, page.locator('.needs-at'), { y: 60, x: -20 })
  t.ok(await command('echo first').isVisible(), 'down is not across')
  await drag(page, page.locator('.needs-at'), { x: -160 })
  await command('echo second').waitFor()
  await device.see('2 of 2')
  await drag(page, page.locator('.needs-at'), { x: 160 })
  await command('echo first').waitFor()
  await page.keyboard.press('j')
  await command('echo second').waitFor()
  await pressAwake(device, 'Allow once')
  await command('echo first').waitFor()
  await device.see('1 of 1')
  await pressAwake(device, 'Allow once')
  await device.see('Nothing needs you')
})

t.test('pulling down the list checks the link, and a button does too', async t => {
  const { device } = await worldWithDaemon(t, devices, 'Apples are in.')
  const { page } = device
  const asked = () => page.waitForRequest(request => request.url().endsWith('/health'))
  const head = page.getByRole('heading', { level: 1 })
  await device.see('Live')
  let checks = 0
  page.on('request', request => {
    if (request.url().endsWith('/health')) checks++
  })
  await drag(page, head, { y: 60 })
  t.equal(checks, 0, 'a short pull checks nothing')
  await Promise.all([asked(), drag(page, head, { y: 200 })])
  await Promise.all([asked(), device.press(/^Live/)])
  await device.see('Live')
})

t.test('swipes and long presses archive, pin and select a session, and close a sheet [U6]', async t => {
  const { device } = await worldWithDaemon(t, devices, 'Apples are in.')
  const { page } = device
  const apples = row(device, 'Apples are in.')
  await drag(page, apples, { x: 150 })
  await apples.locator('.row-pin').waitFor()
  await drag(page, apples, { x: -60 })
  await apples.waitFor()
  t.equal(new URL(page.url()).pathname, '/', 'a swiped row is not opened')
  await drag(page, apples, { x: -150 })
  await device.see('Archived. Its agent will end shortly.')
  await device.press('Undo')
  await apples.waitFor()
  await press(page, apples, () => device.see('1 selected'))
  await device.press('Done')

  await apples.getByRole('link').first().click()
  await pick(device, 'Session menu', 'Rename')
  const dialog = page.getByRole('dialog')
  await drag(page, dialog.locator('.sheet-h h2'), { y: 30 })
  t.ok(await dialog.isVisible(), 'a little is not away')
  await drag(page, dialog.locator('.sheet-h h2'), { y: 400 })
  await dialog.waitFor({ state: 'detached' })
})
