import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { readBackupKey } from '../../lib/crypto/index.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { signUp } from '../kit/person.ts'
import { startServer, startServerProcess } from '../kit/server.ts'
import { withScreenLock } from './kit/screen-lock.ts'

const devices = await openDevices(t)
const shots = join(import.meta.dirname, '../../build/shots')
mkdirSync(shots, { recursive: true })

const pages = [
  ['appearance', 'Hold to confirm'],
  ['language', 'Same as browser'],
  ['lock', 'Each time you open Afield'],
  ['storage', 'Use less data'],
  ['account-key', 'Show the key'],
  ['about', 'Copy diagnostics'],
  ['devices', 'This device']
] as const

// Names are not translated.
const named =
  /(node build\.mjs start|afield) [a-z]+( --server \S+)?|Chrome on Linux|Claude Code|Afield|Lucide|MIT|ISC|localhost|English|简体中文|\d+\.\d+\.\d+|Enter|Ctrl Enter/g

async function deviceWithAccount(t: Test): Promise<{ device: Device; key: string; url: string }> {
  const server = await startServerProcess(t)
  // A screen lock requires a host name, not an IP address.
  const url = server.url.replace('127.0.0.1', 'localhost')
  const device = await devices.open(t, url)
  const key = await device.createAccount()
  return { device, key, url }
}

function secretOf(key: string): Uint8Array {
  const reading = readBackupKey(key)
  if (!reading.ok) throw new Error('no account key')
  return reading.secret
}

t.test('every settings page opens, and the index shows current values', async t => {
  const { device } = await deviceWithAccount(t)
  await device.see('Live')
  await device.visit('/settings')
  for (const value of ['Not checked yet', 'English', 'Same as system']) await device.see(value)
  for (const [page, text] of pages) {
    await device.visit(`/settings/${page}`)
    await device.see(text)
  }
})

t.test('in low-data mode the server is told to send no growing text, at once and at each connect', async t => {
  const { device } = await deviceWithAccount(t)
  const { page } = device
  await device.see('Live')
  const connects = toldByNextLine(page, /^40\{.*"partials":true/)
  const turnsOn = toldByNextLine(page, /"app-state",\{[^}]*"partials":false/)
  await device.visit('/settings/storage')
  await device.see('Use less data')
  // Before that the next connect tells it.
  await connects
  await page.getByLabel('Use less data').click()
  await turnsOn
  const comesBack = toldByNextLine(page, /^40\{.*"partials":false/)
  const turnsOff = toldByNextLine(page, /"app-state",\{[^}]*"partials":true/)
  await page.reload()
  await comesBack
  await page.getByLabel('Use less data').click()
  await turnsOff
  t.pass('all of it was told')
})

/** Resolves when a connection that the page opens from now on has sent this. */
function toldByNextLine(page: Page, said: RegExp): Promise<void> {
  return new Promise(resolve => {
    page.on('websocket', line => line.on('framesent', ({ payload }) => said.test(String(payload)) && resolve()))
  })
}

t.test('the language is chosen in the settings, saved, and announced to screen readers; nothing of the old one remains', async t => {
  const { device } = await deviceWithAccount(t)
  await device.visit('/settings/language')
  await device.page.getByLabel('简体中文').click()
  await device.see('跟随浏览器')
  t.equal(await device.page.evaluate(() => document.documentElement.lang), 'zh-Hans')
  for (const page of ['', 'devices', 'appearance', 'lock', 'storage', 'account-key', 'about', 'language']) {
    await device.visit(`/settings/${page}`)
    await device.page.getByRole('heading', { level: 1 }).first().waitFor()
    await device.page.waitForFunction(() => !document.body.innerText.includes('正在加载'))
    const text = (await device.page.locator('main').innerText()).replaceAll(named, '')
    t.notMatch(text, /[A-Za-z]{4,} [A-Za-z]{2,}/, page)
    await device.screenshot(join(shots, `settings-${page || 'index'}-zh.png`))
  }
  await device.visit('/')
  await device.see('已连接')
  await device.screenshot(join(shots, 'home-zh.png'))
  await device.visit('/settings/language')
  await device.page.getByLabel('跟随浏览器').click()
  await device.see('Same as browser')
})

t.test('the app lock covers the app until the owner unlocks it, or enters the account key; drafts are still there [H10]', async t => {
  const { device, key } = await deviceWithAccount(t)
  const lock = await withScreenLock(device)
  await device.visit('/settings/lock')
  await device.page.getByLabel('Each time you open Afield').click()
  await device.page.waitForFunction(() => localStorage.getItem('afield-lock') !== null)
  await device.visit('/settings/account-key')
  await device.see('Afield is locked')
  t.notOk(await device.page.getByText('Anyone who has it can read everything').isVisible())
  await device.screenshot(join(shots, 'locked.png'))

  await lock.ownerIs(false)
  await device.press('Unlock')
  await device.see('Unlocking failed')
  await device.press('Use the account key instead')
  await device.write('Account key', 'AAAAA-BBBBB')
  await device.press('Unlock')
  await device.see('That is not the key to this account')
  await device.write('Account key', key.toLowerCase())
  await device.press('Unlock')
  await device.see('Anyone who has it can read everything')

  await device.press('Show the key')
  await device.see('The screen lock was not confirmed')
  t.equal(await device.page.locator('.key-groups').count(), 0)
  await lock.ownerIs(true)
  await device.press('Show the key')
  await device.page.locator('.key-groups code').nth(10).waitFor()

  await device.visit('/settings/lock')
  await device.press('Unlock')
  await lock.ownerIs(false)
  await device.page.getByLabel('Off', { exact: true }).click()
  await device.see('Nothing was changed')
  t.ok(await device.page.getByLabel('Each time you open Afield').isChecked())
  await lock.ownerIs(true)
  await device.page.getByLabel('Off', { exact: true }).click()
  await device.page.waitForFunction(() => localStorage.getItem('afield-lock') === null)
  await device.visit('/settings/account-key')
  await device.see('Anyone who has it can read everything')
})

t.test('an app that locked after five minutes stays locked when it is loaded again, in every tab [H10]', async t => {
  const { device } = await deviceWithAccount(t)
  await withScreenLock(device)
  await device.visit('/settings/lock')
  await device.page.getByLabel('After 5 minutes away').click()
  await device.page.waitForFunction(() => localStorage.getItem('afield-lock') !== null)
  await device.visit('/')
  await device.see('Live')
  await device.context.clock.setSystemTime(Date.now() + 6 * 60_000)
  const tab = await device.openTab('/')
  await tab.see('Afield is locked')
  await tab.page.reload()
  await tab.see('Afield is locked')
  t.notOk(await tab.page.getByText('Live', { exact: true }).isVisible())
})

t.test('everything is exported as one file, and erasing leaves no Afield data in the browser', async t => {
  const { device } = await deviceWithAccount(t)
  await device.visit('/settings/appearance')
  await device.page.getByLabel('Dark', { exact: true }).click()
  t.equal(await device.page.evaluate(() => localStorage.getItem('afield-theme')), 'dark')
  await device.visit('/settings/storage')
  await device.see('Kept until deleted')
  const downloading = device.page.waitForEvent('download')
  await device.press('Export everything')
  t.match((await downloading).suggestedFilename(), /^afield-\d{4}-\d\d-\d\d\.zip$/)
  await device.see('The file is in your downloads')

  await device.press(/^Erase this device/)
  await device.page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
  await device.press(/^Erase$/)
  await device.page.waitForFunction(() => !('isSamePage' in globalThis))
  await device.see('Create an account')
  const left = await device.page.evaluate(async () => {
    const asking = indexedDB.open('afield')
    const db = await new Promise<IDBDatabase>(resolve => {
      asking.onsuccess = () => resolve(asking.result)
    })
    const counting = db.objectStoreNames.contains('sealed') ? db.transaction('sealed').objectStore('sealed').getAllKeys() : undefined
    if (counting)
      await new Promise(resolve => {
        counting.onsuccess = resolve
      })
    return { settings: Object.keys(localStorage), kept: counting?.result }
  })
  t.same(left, { settings: [], kept: [] })
})

t.test('the server reports its storage and retention, and one that cannot is labelled', async t => {
  const server = await startServer(t, { keepSessionsDays: 30, policy: { quotas: () => ({ messages: 1200, bytes: 5_000_000 }) } })
  const device = await devices.open(t, server.url)
  const writer = await signUp(t, server, secretOf(await device.createAccount()))
  const session = await writer.openSession()
  await writer.send(session, { localId: 'one' }, { localId: 'two', content: 'x'.repeat(2000) })
  await device.visit('/settings/storage')
  const rows = async () => (await device.page.locator('.grp').filter({ hasText: 'On the server' }).innerText()).split(/\n+/)
  await device.see('Removed after 30 days')
  t.same((await rows()).slice(1, 9), [
    ...['Sessions', '1', 'Messages', '2 of at most 1,200'],
    ...['Size of the messages', '2 kB', 'Attachments', '0 byte']
  ])
  t.ok((await rows()).includes('2 kB of at most 5 MB'))

  await device.context.route('**/v1/account/storage', route => route.fulfill({ status: 404, json: { error: 'Not found' } }))
  await device.visit('/settings/storage')
  await device.see('This server does not report its storage use or retention.')
  await device.see('It lists 1 session.')
})

t.test('two devices with the same name differ by when they signed in', async t => {
  const { device, key, url } = await deviceWithAccount(t)
  const other = await devices.open(t, url)
  await other.visit('/restore')
  await other.write('Account key', key)
  await other.press('Restore')
  await other.see('Live')
  await other.visit('/settings/devices')
  await other.see('This device')
  t.equal(await other.page.getByText('Chrome on Linux').count(), 2)
  t.equal(await other.page.getByText(/^Signed in on /).count(), 2)
  t.equal(await other.page.getByText(/^This device/).count(), 1)
  await device.visit('/settings/devices')
  await device.see('This device')
  await other.screenshot(join(shots, 'devices.png'))
})
