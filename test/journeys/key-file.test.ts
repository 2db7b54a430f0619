import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'

const devices = await openDevices(t)
const passphrase = 'seven grey geese flew north'

t.test('the account key is saved encrypted with a passphrase, which is all it takes to restore the account', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  const key = await phone.createAccount()
  await phone.visit('/start/key')
  await phone.press('Save file')
  await phone.write('Passphrase', 'short')
  await pressSave(phone, 'Save file')
  await phone.see('Use at least ten characters.')
  await phone.write('Passphrase', passphrase)
  await phone.write('Repeat passphrase', `${passphrase}!`)
  await pressSave(phone, 'Save file')
  await phone.see('The passphrases do not match.')
  await phone.write('Repeat passphrase', passphrase)
  const sealed = await saved(phone, 'Save file')
  t.equal(sealed.name, 'afield-account-key.age')
  t.match(sealed.text, /^-----BEGIN AGE ENCRYPTED FILE-----/)
  t.notOk(sealed.text.includes(key.slice(0, 5)))

  await phone.press('I have it, check it')
  await phone.see('Open the file that you saved')
  await choose(phone, 'other.txt', 'Dear diary')
  await phone.see('There is no account key in this file')
  await choose(phone, 'other.txt', `${'ABCDE-'.repeat(10)}FG`)
  await phone.see('This file opens another account')
  await choose(phone, sealed.name, sealed.text)
  await phone.write('Passphrase', passphrase)
  await phone.press('Open file')
  await phone.see('Correct')

  const desk = await devices.open(t, server.url, { width: 1280, height: 800 })
  await desk.visit('/restore')
  await choose(desk, 'notes.txt', 'Dear diary')
  await desk.see('There is no account key in this file')
  await choose(desk, sealed.name, sealed.text)
  await desk.write('Passphrase', `${passphrase}?`)
  await desk.press('Open file')
  await desk.see('That is not the passphrase for this file.')
  t.equal(await desk.page.getByRole('textbox', { name: 'Account key' }).inputValue(), '')
  await desk.write('Passphrase', passphrase)
  await desk.page.keyboard.press('Enter')
  await desk.see('That looks like a key.')
  await desk.write('Name of this device', ' Desk in the shed ')
  await desk.press('Restore')
  await desk.see('Live')
  await desk.visit('/settings/devices')
  await desk.see('Desk in the shed')
})

t.test('when the encryption code cannot be loaded, nothing is saved and an error is shown', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  // The cached app would work without the network.
  await phone.context.addInitScript('navigator.serviceWorker.register = () => new Promise(() => {})')
  await phone.createAccount()
  await phone.visit('/start/key')
  await phone.press('Save file')
  await phone.write('Passphrase', passphrase)
  await phone.write('Repeat passphrase', passphrase)
  let isCut = true
  await phone.context.route('**/assets/**', route => (isCut ? route.abort() : route.continue()))
  const downloads: string[] = []
  phone.page.on('download', download => downloads.push(download.suggestedFilename()))
  await pressSave(phone, 'Save file')
  await phone.see('Nothing was saved')
  await phone.see('Check the connection and try again.')
  t.same(downloads, [])
  isCut = false
  t.equal((await saved(phone, 'Save file')).name, 'afield-account-key.age')
})

t.test('a key file is unencrypted only if the passphrase is left empty and this is confirmed; it restores too', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  const key = await phone.createAccount()
  await phone.visit('/start/key')
  await phone.press('Save file')
  await pressSave(phone, 'Save file')
  await phone.see('Anyone who gets the file has your whole account.')
  await phone.write('Passphrase', 'x')
  await phone.seeNoMore('Anyone who gets the file')
  await phone.write('Passphrase', '')
  await pressSave(phone, 'Save file')
  const plain = await saved(phone, 'Save unencrypted')
  t.equal(plain.name, 'afield-account-key.txt')
  t.ok(plain.text.includes(key))

  const desk = await devices.open(t, server.url)
  await desk.visit('/restore')
  await choose(desk, plain.name, plain.text)
  await desk.see('That looks like a key.')
  await desk.press('Restore')
  await desk.see('Live')
})

async function pressSave(device: Device, name: string): Promise<void> {
  await device.page.getByRole('dialog').getByRole('button', { name }).click()
}

async function saved(device: Device, name: string): Promise<{ name: string; text: string }> {
  const downloading = device.page.waitForEvent('download')
  await pressSave(device, name)
  const download = await downloading
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}

async function choose(device: Device, name: string, text: string): Promise<void> {
  await device.page.getByRole('button', { name: 'Open a key file' }).waitFor()
  await device.page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
}
