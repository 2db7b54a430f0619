import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { openRelease } from './kit/release.ts'
import { type Kept, storesOf } from './kit/stores.ts'

const devices = await openDevices(t)

/** A browser with an open session of the demo agent, in which `said` was said. */
async function world(t: Test, said: string, { data = join(t.testdir(), 'data') } = {}) {
  const server = await startServerProcess(t, { data })
  const { phone: witness, home } = await linkedComputer(t, server)
  runWrapper(t, { home, args: ['demo'] })
  const session = await witness.session()
  const key = formatBackupKey(witness.secret)
  const device = await signIn(t, server, key)
  await device.visit(`/s/${session.id}`)
  await say(device, session, said)
  return { data, server, session, secret: witness.secret, key, device }
}

async function signIn(t: Test, server: Pick<ServerProcess, 'url'>, key: string): Promise<Device> {
  const device = await devices.open(t, server.url)
  device.page.setDefaultTimeout(20_000)
  await device.visit('/restore')
  await device.write('Account key', key)
  await device.press('Restore')
  await device.see('Live')
  return device
}

async function say(device: Device, session: PhoneSession, text: string): Promise<void> {
  await session.say(`SCRIPT: text ${text}`)
  await conversation(device, text).waitFor()
}

function conversation({ page }: Device, text: string) {
  return page.getByRole('log').getByText(text, { exact: true })
}

t.test('nothing stored on this device contains the account secret or messages in clear [H8]', async t => {
  const { device, secret, key, session } = await world(t, 'Cranberries are in.')
  await device.page.evaluate(() => navigator.serviceWorker.ready)
  const composer = device.page.getByRole('textbox', { name: /message/i })
  await device.context.setOffline(true)
  await composer.fill('Gooseberries wait.')
  await device.press(/^(Send|Queue)/)
  await conversation(device, 'Gooseberries wait.').waitFor()
  await composer.fill('Elderberries are not sent.')
  const isKept = (stores: Kept[], what: RegExp) => stores.some(({ at }) => what.test(at))
  const expected = [new RegExp(`sealed history.${session.id}`), /sealed account/, /drafts/, /caches/]
  let stores = await storesOf(device)
  while (!expected.every(what => isKept(stores, what))) stores = await storesOf(device)

  const bytes = Buffer.from(secret)
  const forms = [
    bytes.toString('latin1'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    key,
    key.replaceAll('-', '')
  ]
  const secrets = [...forms, key.slice(0, 11), 'berries']
  const told = stores.flatMap(({ at, text }) =>
    secrets.filter(each => text.toLowerCase().includes(each.toLowerCase())).map(each => `${at}: ${each}`)
  )
  t.same(told, [])
  t.same(
    stores.filter(({ at, text }) => at.includes('keys') && !/extractable: false/.test(text)),
    [],
    'what opens it cannot be taken out'
  )
})

t.test('an app update is offered, waits for consent, and loses no draft', async t => {
  const server = await startServerProcess(t)
  const release = await openRelease(t, server.url)
  const { phone: witness, home } = await linkedComputer(t, server)
  runWrapper(t, { home, args: ['demo'] })
  const session = await witness.session()
  const device = await signIn(t, release, formatBackupKey(witness.secret))
  await device.page.evaluate(() => navigator.serviceWorker.ready)
  await device.visit(`/s/${session.id}`)
  const composer = device.page.getByRole('textbox', { name: /message/i })
  await composer.fill('Half a sent')
  await device.page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
  const before = await cacheNames(device)

  release.publish()
  await device.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await device.see('A new version is ready')
  await composer.press('End')
  await composer.pressSequentially('ence')
  t.ok(await isSamePage(device), 'nothing was reloaded')
  await session.say('SCRIPT: tool exec {"command":"echo hello"}')
  await device.see('Run this command?')
  t.ok(await isSamePage(device), 'nor while something is to be decided')
  const tab = await device.openTab('/')
  await tab.see('A new version is ready')
  t.ok(await isSamePage(device), 'nor by another tab that opens')

  // The browser first lets the older worker finish its work.
  const reloaded = device.page.waitForEvent('load', { timeout: 60_000 })
  await device.press('Reload')
  await reloaded
  t.notOk(await isSamePage(device))
  await device.see('Run this command?')
  await device.seeNoMore('A new version is ready')
  t.not((await cacheNames(device)).join(), before.join(), 'the newer files took the place of the older')
  t.equal((await cacheNames(device)).length, 1)
  await device.page.getByRole('button', { name: /^Deny/ }).waitFor()
  await session.say('SCRIPT: text over')
})

function cacheNames({ page }: Device): Promise<string[]> {
  return page.evaluate(() => caches.keys())
}

function isSamePage({ page }: Device): Promise<boolean> {
  return page.evaluate(() => 'isSamePage' in globalThis)
}

t.test('an unlinked device keeps nothing but its account key [H11]', async t => {
  const { device, server, key } = await world(t, 'Quinces are in.')
  await device.page.evaluate(() => navigator.serviceWorker.ready)
  const other = await signIn(t, server, key)
  await other.visit('/settings/devices')
  await other.press(/^Unlink (?!.*vm)/)
  await other.page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).click()
  await device.see(/This device was unlinked on/)
  const kept = await storesOf(device)
  t.same(
    kept.filter(({ at }) => !/^(caches|history)/.test(at) && !/ (keys [\w-]+|sealed account)$/.test(at)).map(({ at }) => at),
    [],
    'and the files of the app'
  )
})

t.test('after the server is restored from an older backup nothing newer is shown, and waiting messages are sent once', async t => {
  const { device, server, data, session, key } = await world(t, 'Before the backup.')
  const place = join(data, '..')
  writeFileSync(join(place, 'words'), 'apples and pears')
  const afield = (...args: string[]) => {
    execFileSync(process.execPath, ['bin/afield.ts', ...args, '--data', data, '--passphrase-file', join(place, 'words')])
  }
  afield('backup', join(place, 'kept.backup'))
  await session.say('SCRIPT: text After the backup.')
  await conversation(device, 'SCRIPT: text After the backup.').waitFor()
  await server.kill()
  await device.page.getByRole('textbox', { name: /message/i }).fill('SCRIPT: text It went out.')
  await device.press(/^(Send|Queue)/)
  await conversation(device, 'SCRIPT: text It went out.').waitFor()

  afield('restore', join(place, 'kept.backup'), '--force')
  await startServerProcess(t, { data, port: Number(new URL(server.url).port) })
  await conversation(device, 'It went out.').waitFor()
  // A new device knows only what the server has.
  const fresh = await signIn(t, server, key)
  await fresh.visit(`/s/${session.id}`)
  await conversation(fresh, 'It went out.').waitFor()
  const texts = ({ page }: Device) => page.getByRole('log').locator('.bub, .md').allInnerTexts()
  for (const look of ['as it came back', 'opened anew']) {
    for (const each of [device, fresh]) await conversation(each, 'Before the backup.').waitFor()
    t.same(await texts(device), await texts(fresh), look)
    t.equal(await conversation(device, 'SCRIPT: text It went out.').count(), 1, look)
    await device.page.reload()
    await conversation(device, 'It went out.').waitFor()
  }
})
