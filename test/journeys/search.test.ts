import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { openDevices } from '../kit/browser.ts'
import { pick, worldWithDaemon } from './kit/daemon-world.ts'

const devices = await openDevices(t)

t.test('messages are found on this device and opened in place', async t => {
  const { device, session } = await worldWithDaemon(t, devices, 'The quinces are for jelly.')
  const { page } = device
  for (let n = 1; n <= 12; n++) await session.say(`SCRIPT: text Row ${n} of the orchard is pruned.`)
  await session.until(({ events }) => events().some(event => event.t === 'text' && event.text.includes('Row 12 ')))
  await device.visit('/search')
  await page.getByRole('searchbox').fill('QUINCES jelly')
  // The prompt contains the words as well, and so does the session named after it.
  const hit = page.getByRole('link').filter({ has: page.getByText('The quinces are for jelly.', { exact: true }) })
  await hit.first().click()
  await page.waitForURL(/\/s\/.+\/m\/\d+$/)
  const said = page.getByRole('log').getByText('The quinces are for jelly.', { exact: true })
  await said.waitFor()
  await page.waitForFunction(() => {
    const target = document.querySelector('.is-target')?.getBoundingClientRect()
    return target !== undefined && target.top > 0 && target.bottom < innerHeight
  })
  t.match(await page.locator('.is-target').textContent(), /quinces/)

  await device.visit('/search?q=medlars')
  await device.see('Nothing found for “medlars”')
  await device.press(/^Also search/)
  await device.see(/^Nothing on /)
})

t.test('a session is renamed for every device, saved as a file, and forked; where it cannot be forked, it says why', async t => {
  const { device, session, witness, home, code } = await worldWithDaemon(t, devices, 'Apples are in.')
  const { page } = device
  await device.visit(`/s/${session.id}`)
  await pick(device, 'Session menu', 'Rename')
  await page.getByRole('dialog').getByLabel('Session title').fill('The autumn harvest')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'The autumn harvest' }).waitFor()
  const title = await page.getByRole('heading', { level: 1, name: 'The autumn harvest' }).boundingBox()
  await page.mouse.click((title?.x ?? 0) + 20, (title?.y ?? 0) + 10)
  await page.getByRole('dialog').getByLabel('Session title').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const other = await devices.open(t, new URL(page.url()).origin)
  await other.visit('/restore')
  await other.write('Account key', formatBackupKey(witness.secret))
  await other.press('Restore')
  await other.see('The autumn harvest')

  await pick(device, 'Session menu', 'Export')
  const saving = page.waitForEvent('download')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Markdown/ })
    .click()
  t.match((await saving).suggestedFilename(), /The-autumn-harvest.*\.md$/)

  const address = page.url()
  const fork = async () => {
    await pick(device, 'Session menu', 'Fork from here')
    await page.getByRole('dialog').getByRole('button', { name: 'Fork from here' }).click()
  }
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [join(code, 'elsewhere')] }))
  await fork()
  await device.see('It could not be forked')
  await device.see(/is not allowed on this computer/)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [code] }))
  await fork()
  await page.waitForURL(url => /^\/s\//.test(url.pathname) && url.href !== address)
  await page.getByPlaceholder('Message Demo agent').waitFor()
})
