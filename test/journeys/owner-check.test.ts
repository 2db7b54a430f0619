import t, { type Test } from 'tap'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { bringLink } from './kit/linking.ts'
import { lockWhatIsRisky, withScreenLock } from './kit/screen-lock.ts'

const devices = await openDevices(t)
const notConfirmed = 'The screen lock was not confirmed'

t.test('with a screen lock only the owner can show, save, print and copy the account key, by any path [H10]', async t => {
  const { phone, key, lock } = await lockedPhone(t)
  const isNowhere = async () => {
    t.equal(await phone.page.locator('.key-groups').count(), 0)
    t.equal(await phone.page.getByRole('button', { name: /Save file|Print|Copy/ }).count(), 0)
    t.notOk((await phone.page.content()).includes(key.slice(0, 5)))
  }
  await phone.visit('/start/key')
  await phone.see('Write down your account key')
  await isNowhere()
  await lock.ownerIs(false)
  await phone.press('Show the key')
  await phone.see(notConfirmed)
  await isNowhere()

  await phone.visit('/settings/account-key')
  await phone.press('Check my key')
  await phone.press('Show me the key again')
  await phone.see('Write down your account key')
  await isNowhere()
  await lock.ownerIs(true)
  await phone.press('Show the key')
  await phone.page.locator('.key-groups code').nth(10).waitFor()
  t.equal(await phone.page.getByRole('button', { name: /Save file|Print|Copy/ }).count(), 3)
})

t.test('a key that stays on a device unlinked by the server is still behind its screen lock [H10]', async t => {
  const { phone, key, url, lock } = await lockedPhone(t)
  const desk = await devices.open(t, url)
  await desk.visit('/restore')
  await desk.write('Account key', key)
  await desk.press('Restore')
  await desk.see('Live')
  await desk.visit('/settings/devices')
  await desk.press(/^Unlink /)
  await desk.page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).click()

  await phone.see('The account key is still here')
  await lock.ownerIs(false)
  await phone.press('Remove the account key from this device')
  await phone.press('Remove the key')
  await phone.see('The key was not removed')
  await phone.page.goBack()
  await phone.press('Sign in again')
  await phone.press(/^Sign in$/)
  await phone.press('Show the key')
  await phone.see(notConfirmed)
  t.equal(await phone.page.locator('.key-groups').count(), 0)
})

t.test('with a screen lock only the owner can let in a device: before that there is nothing to type or hold [H10]', async t => {
  const { phone, url, lock } = await lockedPhone(t)
  const tablet = await devices.open(t, url)
  await tablet.visit('/link')
  const checkCode = await bringLink(tablet, phone)
  await phone.see('It can read everything, forever.')
  await lock.ownerIs(false)
  await phone.press('Confirm with the screen lock')
  await phone.see(notConfirmed)
  t.equal(await phone.page.getByLabel('Check code').count(), 0)
  t.equal(await phone.page.getByRole('button', { name: 'Hold to link' }).count(), 0)
  await lock.ownerIs(true)
  await phone.press('Confirm with the screen lock')
  await phone.write('Check code', checkCode)
  await phone.hold('Hold to link', 'The other device has your account now.')
})

async function lockedPhone(t: Test) {
  const server = await startServerProcess(t)
  const url = server.url.replace('127.0.0.1', 'localhost')
  const phone = await devices.open(t, url)
  const key = await phone.createAccount()
  const lock = await withScreenLock(phone)
  await lockWhatIsRisky(phone)
  return { phone, key, url, lock }
}
