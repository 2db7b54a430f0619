import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { callback, openRepository } from './repository-session.ts'

const devices = await openDevices(t)

t.test('a file is found by its content and edited, and a newer version on the machine is not overwritten', async t => {
  const { device, write, to, read } = await openRepository(t, devices)
  const { page } = device
  await to('files')
  await page.getByRole('searchbox').fill('readState')
  await page.getByRole('radio', { name: 'Text' }).check()
  await page.getByText('1 match').click()
  await page.getByRole('heading', { level: 1, name: 'callback.js' }).waitFor()
  await device.press('Edit')
  const area = page.getByLabel('Edit callback.js')
  await area.fill(callback.replace('/home', '/trees'))
  await device.press('Save')
  await page.getByText("redirect('/trees')").waitFor()
  t.match(read('src/callback.js'), "redirect('/trees')")

  await device.press('Edit')
  await area.fill(callback.replace('/home', '/mine'))
  write('src/callback.js', callback.replace('/home', '/theirs'))
  await device.press('Save')
  await device.see('callback.js changed on the computer')
  await device.see('Your edit was not saved.')
  t.match(read('src/callback.js'), '/theirs', 'nothing was written')
  await device.press('See both')
  await page.locator('.wl.del', { hasText: '/theirs' }).waitFor()
  await page.locator('.wl.add', { hasText: '/mine' }).waitFor()
  await device.press('Overwrite with mine')
  // Both versions are shown side by side until mine is on the computer.
  await page.locator('.wl.del').first().waitFor({ state: 'detached' })
  t.match(read('src/callback.js'), '/mine')

  await device.press('Mention in chat')
  await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('.composer textarea')?.value === '@src/callback.js ')
})

t.test('the files of a folder without git are one menu away, and its changes page says why there are none', async t => {
  const { device, folder } = await openRepository(t, devices)
  rmSync(join(folder, '.git'), { recursive: true })
  await device.page.reload()
  await device.press('Session menu')
  await device.page.getByRole('menuitem', { name: 'Files' }).click()
  await device.see('README.md')
  await device.press('Changes')
  await device.see('Not a git repository')
  await device.see('Changes are shown per step in the session.')
})
