import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { readCode } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

const devices = await openDevices(t)

t.test('the first person of a server needs its setup code, which leaves the address bar at once', async t => {
  const server = await startServerProcess(t, { signup: 'owner' })
  const phone = await devices.open(t, server.url)

  await phone.visit('/')
  await phone.see(/ · Afield \d+\.\d+\.\d+$/)
  await phone.press('Create an account')
  await phone.see('Setup code')
  await phone.press('Create my account')
  await phone.see('The first account needs the setup code.')
  await phone.write('Setup code', 'WRONG-CODE')
  await phone.press('Create my account')
  await phone.see('That is not the setup code of this server.')

  const setupCode = readFileSync(join(server.data, 'setup-code'), 'utf8').trim()
  const key = await phone.createAccount({ setupCode })
  t.match(key, /^([A-Z2-7]{5}-){10}[A-Z2-7]{2}$/)
  t.notMatch(phone.page.url(), /setup/)
  await phone.page.goBack()
  t.notMatch(phone.page.url(), /setup/, 'nor is it in the history')
})

t.test('the instructions of Devices for adding a computer work when typed there, and the code confirms it', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  await phone.createAccount()
  await phone.visit('/settings/devices')
  await phone.see('Add a device or computer')
  // Until the server has reported how it was installed, the default is shown.
  await phone.page.locator('.add-device code', { hasText: 'build.mjs' }).waitFor()
  const command = ((await phone.page.locator('.add-device code').textContent()) ?? '').trim()
  t.match(command, new RegExp(`^node build\\.mjs start login --server ${server.url}$`))
  await phone.see('To link another computer, open this page at an address that it can reach too.')
  const login = runWrapper(t, { home: join(t.testdirName, 'computer'), args: command.split(' ').slice(3) })
  const { link, checkCode } = await readCode(login)
  await phone.page.locator('.add-device a').click()
  await phone.write('Paste a link', link)
  await phone.press('Continue')
  await phone.write('Check code', checkCode)
  await phone.hold('Hold to link', 'Linked')
  t.equal(await login.ended, 0)
  await phone.visit('/new')
  await phone.see(/give its path: node ~\/afield\/build\.mjs start claude/)
})

t.test('a key that was written down restores the account on another device', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  const key = await phone.createAccount()

  const desk = await devices.open(t, server.url, { width: 1280, height: 800, colorScheme: 'dark' })
  await desk.visit('/restore')
  await desk.write('Account key', `${key.slice(0, 13)}ü${key.slice(14)}`)
  await desk.see('Group 3 has a character that cannot be in a key.')
  await desk.write('Account key', key.toLowerCase().replaceAll('-', '').slice(0, 50))
  await desk.see('2 characters to go.')
  await desk.write('Account key', key.toLowerCase().replaceAll('-', ' '))
  await desk.press('Restore')
  await desk.see('No sessions here yet')

  await t.test('removing the other device from the list signs it out, and it keeps its key and nothing else [H11]', async t => {
    await phone.visit('/settings/account-key')
    await phone.press('Check my key')
    const groups = key.split('-')
    await phone.page.locator('.fld label').first().waitFor()
    for (const label of await phone.page.locator('.fld label').allTextContents()) {
      await phone.write(label, groups[Number(label.replace(/\D/g, '')) - 1]?.toLowerCase() ?? '')
    }
    await phone.press('Check')
    await phone.see('Correct')
    await phone.press('Continue')

    await desk.visit('/settings/devices')
    await desk.see('Signed in with the account key')
    await desk.press(/^Unlink /)
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).click()
    await phone.see(/This device was unlinked on/)
    await phone.see('The account key is still here')
    t.same(await keptNames(phone.page), ['account'])
    await phone.visit('/link')
    await phone.see('Remove the account key from this device')
    await desk.seeNoMore('Unlink')

    await phone.press('Sign in again')
    await phone.press(/^Sign in$/)
    await phone.see('No sessions here yet')
    await phone.see('Live')
  })

  await t.test('a key that stayed on the device is removed by its owner', async t => {
    await desk.visit('/settings/devices')
    await desk.press(/^Unlink /)
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).click()
    await phone.press('Remove the account key from this device')
    await phone.press('Remove the key')
    await phone.see('Create an account')
    t.same(await keptNames(phone.page), [])
  })
})

t.test('an unverified key stays on its device when the server ends the sign-in in two tabs [H11]', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  const key = await phone.createAccount()
  const other = await phone.openTab('/machines')
  await other.see('No computer linked yet')
  const desk = await devices.open(t, server.url)
  await desk.visit('/restore')
  await desk.write('Account key', key)
  await desk.press('Restore')
  await desk.see('Live')
  await desk.visit('/settings/devices')
  await desk.press(/^Unlink /)
  await desk.page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).click()

  for (const tab of [phone, other]) await tab.see('The account key is still here')
  await Promise.all([phone.page.reload(), other.page.reload()])
  for (const tab of [phone, other]) await tab.see('The account key is still here')
  await other.press('Sign in again')
  await other.press(/^Sign in$/)
  await other.see('Write down your account key')
  await phone.see('Live')
  await phone.visit('/settings/account-key')
  await phone.press('Show the key')
  await phone.page.locator('.key-groups code').nth(10).waitFor()
  t.equal((await phone.page.locator('.key-groups code').allTextContents()).join('-'), key)
})

t.test('two tabs of one device sign out together', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  await phone.createAccount()
  const other = await phone.openTab('/machines')
  await other.see('No computer linked yet')

  await phone.visit('/settings')
  await phone.press('Sign out')
  await phone.see('You have not checked your account key.')
  await phone.page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await phone.see('Create an account')
  await other.see('Create an account')
})

t.test('a signed-in device hands the account to a new one that shows a code, with two taps instead of a long press', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  const key = await phone.createAccount()

  const tablet = await devices.open(t, server.url, { width: 820, height: 1180 })
  await tablet.visit('/')
  await tablet.press('Link with an existing device')
  await tablet.see('Waiting for your other device')
  const link = await tablet.copied('Copy link')
  t.match(link, /\/terminal\/connect#v2=/)
  const checkCode = (await tablet.page.locator('.check-code b').textContent()) ?? ''
  t.match(checkCode, /^\d{4}$/)

  await phone.visit('/scan')
  await phone.write('Paste a link', link)
  await phone.press('Continue')
  await phone.see('Give this device your account?')
  await phone.press('Use two taps instead')
  await phone.write('Check code', String((Number(checkCode) + 1) % 10_000).padStart(4, '0'))
  await phone.tapTwice('Link it', 'Confirm: link it once')
  await phone.see('These digits do not match this link.')
  await phone.write('Check code', checkCode)
  await phone.tapTwice('Link it', 'Confirm: link it once')
  await phone.see('The other device has your account now.')

  await tablet.see('No sessions here yet')
  await tablet.visit('/settings/account-key')
  await tablet.press('Show the key')
  t.equal((await tablet.page.locator('.key-groups code').allTextContents()).join('-'), key)
})

t.test('a new device can still use legacy pairing, which has no check code', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  await phone.createAccount()

  const tablet = await devices.open(t, server.url)
  await tablet.visit('/link')
  await tablet.see('Check code')
  await tablet.press('My other device has the Happy app')
  await tablet.seeNoMore('Check code')
  await tablet.see('Waiting for your other device')
  const link = await tablet.copied('Copy link')
  t.match(link, /^happy:\/\/\/account\?/)

  await phone.visit('/scan')
  await phone.write('Paste a link', link)
  await phone.press('Continue')
  await phone.see('Give this device your account?')
  await phone.hold('Hold to link', 'The other device has your account now.')
  await tablet.see('No sessions here yet')
})

t.test('the app opens offline, says so, and recovers automatically [L1]', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  await phone.createAccount()
  await phone.see('Live')
  await phone.page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })

  await server.kill()
  await phone.see('The server is not responding')
  await phone.visit('/')
  await phone.see('The server is not responding')
  await phone.see(/All was quiet at/)

  await startServerProcess(t, { data: server.data, port: Number(new URL(server.url).port) })
  // The app may reconnect before the button is pressed.
  const tryNow = phone.page.getByRole('button', { name: 'Retry now' })
  await tryNow.click({ timeout: 5_000 }).catch(async error => t.equal(await tryNow.count(), 0, String(error)))
  await phone.see('Live')
  await phone.seeNoMore('The server is not responding')
})

async function keptNames(page: Page): Promise<string[]> {
  return page.evaluate(
    () =>
      new Promise<string[]>((resolve, reject) => {
        const opening = indexedDB.open('afield')
        opening.onerror = () => reject(opening.error)
        opening.onsuccess = () => {
          const all = opening.result.transaction('sealed').objectStore('sealed').getAllKeys()
          all.onsuccess = () => resolve(all.result.map(String))
          all.onerror = () => reject(all.error)
        }
      })
  )
}
