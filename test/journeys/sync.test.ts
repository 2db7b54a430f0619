import t from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { type Device, openDevices } from '../kit/browser.ts'
import { pick, row } from './kit/daemon-world.ts'
import { ask, pressAwake, run, say, world } from './kit/decision-world.ts'

const devices = await openDevices(t)

t.test('two tabs and two devices of one account stay in sync', async t => {
  const { phone, session, secret, server } = await world(t, devices)
  const tab = await phone.openTab(`/s/${session.id}`)
  const desk = await devices.open(t, server.url, { width: 1280, height: 800 })
  // Its name, by which the other devices list it.
  await desk.context.addInitScript(() => Object.defineProperty(navigator, 'userAgent', { value: 'Windows Firefox' }))
  await desk.visit('/restore')
  await desk.write('Account key', formatBackupKey(secret))
  await desk.press('Restore')
  await desk.see('Live')
  await desk.visit(`/s/${session.id}`)
  const all = [phone, tab, desk]
  for (const { page } of all) {
    page.setDefaultTimeout(20_000)
    await page.getByRole('textbox', { name: /message/i }).waitFor()
  }

  await t.test('a message is shown everywhere, once, with its delivery status', async t => {
    await say(tab, 'SCRIPT: text The pears are ripe.')
    for (const { page } of all) {
      const log = page.getByRole('log')
      await log.getByText('The pears are ripe.', { exact: true }).waitFor()
      await log.getByText(/^Read by/).waitFor()
      t.equal(await log.getByText('SCRIPT: text The pears are ripe.').count(), 1)
    }
  })

  await t.test('a draft appears in the other tab too, and disappears once it is sent', async t => {
    await writing(phone).fill('SCRIPT: text Quinces.')
    await isWritten(tab, 'SCRIPT: text Quinces.')
    await phone.page.getByRole('button', { name: /^(Send|Queue)/ }).click()
    await isWritten(tab, '')
    t.equal(await writing(desk).inputValue(), '', 'another device has drafts of its own')
  })

  await t.test('a decision made on one closes on the others, which say where it was made', async t => {
    await run(phone, 'echo one')
    for (const each of all) await ask(each).waitFor()
    await pressAwake(desk, 'Allow once')
    for (const each of all) await ask(each).waitFor({ state: 'hidden' })
    for (const each of [phone, tab]) {
      await each.page.locator('.step .tool-s', { hasText: 'echo one' }).click()
      await each.see(/Allowed once on Firefox on Windows/)
    }
    t.equal(Object.keys(session.state.completedRequests ?? {}).length, 1)
  })

  await t.test('a mode chosen on one applies on all', async () => {
    await desk.page.getByRole('button', { name: /^Ask first/ }).click()
    await desk.page.getByRole('dialog').getByText('Plan only').click()
    await desk.page.keyboard.press('Escape')
    for (const { page } of all) await page.getByRole('button', { name: /^Plan only/ }).waitFor()
  })

  await t.test('a session renamed on one has its new name on all', async () => {
    await pick(desk, 'Session menu', 'Rename')
    await desk.page.getByRole('dialog').getByLabel('Session title').fill('The autumn harvest')
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    for (const { page } of all) await page.getByRole('heading', { level: 1, name: 'The autumn harvest' }).waitFor()
  })

  await t.test('a key marked as compromised on one is marked on all, until the mark is removed', async t => {
    const mark = (name: string) => desk.page.getByRole('dialog').getByRole('button', { name })
    await pick(desk, 'Session menu', 'Session info')
    await mark('Mark as compromised').click()
    for (const each of all) await each.see('The key of this session is marked as compromised')
    t.ok(session.metadata.compromisedAt)
    await mark('Remove the mark').click()
    for (const { page } of all) await page.getByText('The key of this session is marked as compromised').waitFor({ state: 'hidden' })
    await desk.page.keyboard.press('Escape')
  })

  await t.test('what is read in one tab is marked read in the other', async () => {
    await phone.visit('/')
    await tab.visit('/')
    await say(desk, 'SCRIPT: text The medlars are soft.')
    for (const each of [phone, tab]) await row(each, 'The medlars are soft.').locator('.unread').waitFor()
    await tab.visit(`/s/${session.id}`)
    await tab.page.getByRole('log').getByText('The medlars are soft.', { exact: true }).waitFor()
    await row(phone, 'The medlars are soft.').locator('.unread').waitFor({ state: 'hidden' })
  })

  await t.test('what is read on one device is marked read on the other', async () => {
    await phone.visit('/')
    await desk.visit('/')
    await desk.see('Live')
    await say(tab, 'SCRIPT: text The hips are red.')
    await row(desk, 'The hips are red.').locator('.unread').waitFor()
    await row(desk, 'The hips are red.').locator('.unread').waitFor({ state: 'hidden' })
    await row(desk, 'The hips are red.').waitFor()
    await desk.visit(`/s/${session.id}`)
  })

  await t.test('the theme applies to all tabs of a device', async t => {
    await tab.visit('/settings/appearance')
    await tab.page.getByLabel('Dark', { exact: true }).click()
    await phone.page.locator('html[data-theme="dark"]').waitFor()
    t.equal(await desk.page.evaluate(() => document.documentElement.dataset['theme']), undefined, 'another device looks as it is set there')
  })

  await t.test('a session archived on one is archived on all, and restored for all', async () => {
    await phone.visit('/')
    await tab.visit('/')
    await pick(desk, 'Session menu', 'Archive')
    for (const each of [phone, tab]) await row(each, 'The autumn harvest').waitFor({ state: 'hidden' })
    await desk.press('Undo')
    for (const each of [phone, tab]) await row(each, 'The autumn harvest').waitFor()
  })
})

function writing({ page }: Device) {
  return page.getByRole('textbox', { name: /message/i })
}

async function isWritten({ page }: Device, text: string): Promise<void> {
  await page.waitForFunction(wanted => document.querySelector('textarea')?.value === wanted, text, { polling: 50 })
}
