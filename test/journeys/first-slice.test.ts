import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { readBackupKey } from '../../lib/crypto/index.ts'
import { openChromium } from '../kit/chromium.ts'
import { startServerProcess } from '../kit/server.ts'
import { startPhone } from '../wrapper/kit/phone.ts'
import { readCode } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { agentTexts, missingInOrder, storedTexts } from './kit/told-texts.ts'

const phoneSize = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

t.test('a person with a phone guides an agent through its work, and through a server crash', async t => {
  const first = await startServerProcess(t, { signup: 'owner' })
  const home = join(t.testdirName, 'home')
  const browser = await openChromium(t, { isWhole: true })
  const context = await browser.newContext(phoneSize)
  const page = await openPage(t, context)

  await page.goto(`${first.url}/#setup=${readFileSync(join(first.data, 'setup-code'), 'utf8').trim()}`)
  const secret = await createAccount(page)
  t.notMatch(page.url(), /setup/, 'the setup code left the address')
  const witness = await startPhone(t, first, secret)

  const login = runWrapper(t, { home, args: ['login', '--server', first.url] })
  const { link, checkCode } = await readCode(login)
  await confirmLink(page, link, checkCode)
  t.equal(await login.ended, 0, 'the computer is linked')

  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const session = await witness.session()
  await page.goto(`${first.url}/s/${session.id}`)
  await say(page, 'Bring apples')
  await page.getByRole('heading', { name: 'Edit notes.md?' }).waitFor()
  t.match(await page.locator('.dock').innerText(), /Bring apples/, 'the change is shown where it is decided')
  t.notMatch(readNotes(home), /Bring apples/, 'nothing is written before the decision')
  await insist(
    () => page.getByRole('button', { name: /^Allow once/ }).click({ timeout: 1000 }),
    () => page.getByRole('button', { name: /^Allow once/ }).waitFor({ state: 'hidden', timeout: 300 })
  )
  await page.getByText('Allowed once by you').waitFor()
  await page.getByText('Turn off the network').waitFor()
  t.match(readNotes(home), /- Bring apples\n$/, 'the file is written')

  await say(
    page,
    'SCRIPT: think hm; text Before it. ;; slow 6000 one two three four five six seven eight nine ten eleven twelve ;; text After it.'
  )
  await page.locator('.say', { hasText: /^one two/ }).waitFor()
  await first.kill()
  await page.getByText('The server is not responding').waitFor()
  const second = await startServerProcess(t, { data: first.data, signup: 'owner', port: Number(new URL(first.url).port) })
  await page.getByText('After it.', { exact: true }).waitFor()

  const reader = await startPhone(t, second, secret)
  const kept = await storedTexts(await reader.session(), 'After it.')
  const told = agentTexts(home)
  t.equal(told.at(-1), 'After it.')
  t.strictSame(kept, told, 'the server has everything the agent said, once and in order')
  const shown = await page.getByRole('log').textContent()
  t.same(missingInOrder(shown ?? '', told), [], 'and so has the phone')

  const tablet = await openPage(t, context)
  await tablet.goto(`${second.url}/s/${session.id}`)
  await tablet.getByText('After it.', { exact: true }).waitFor()
  await say(tablet, 'SCRIPT: text Heard from the other tab.')
  await page.getByText('Heard from the other tab.', { exact: true }).waitFor()
  t.pass('a second tab speaks and the first one sees it')
  await wrapper.kill('SIGTERM')
})

async function openPage(t: Test, context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  page.on('console', message => {
    if (/content security policy|trusted type/i.test(message.text())) t.fail(message.text())
  })
  return page
}

/** Creates an account as a person would. Returns the secret shown on the key page. */
async function createAccount(page: Page): Promise<Uint8Array> {
  await page.getByRole('button', { name: 'Create my account' }).click()
  await page.getByRole('heading', { name: 'Write down your account key' }).waitFor()
  const text = await page.locator('main').innerText()
  const groups = text.match(/\b[A-Z2-7]{5}\b|\b[A-Z2-7]{2}\b(?=\s*\n\s*Save)/g) ?? []
  const reading = readBackupKey(groups.join('-'))
  if (!reading.ok) throw new Error('The page shows no account key')
  await page.getByRole('button', { name: /^Later/ }).click()
  await page.getByText('No sessions here yet').waitFor()
  return reading.secret
}

async function confirmLink(page: Page, link: string, checkCode: string): Promise<void> {
  // On a page that is already open, the fragment alone would not load anything.
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByLabel('Check code').fill(checkCode)
  const button = page.getByRole('button', { name: 'Hold to link' })
  await insist(
    async () => {
      await page.mouse.up()
      await button.hover()
      await page.mouse.down()
    },
    () => page.locator('.hold.holding').waitFor({ timeout: 300 })
  )
  await page.getByRole('heading', { name: 'Linked' }).waitFor()
  await page.mouse.up()
}

/** Buttons that decide something are inert for a moment after they appear; a person who sees no effect presses again. */
async function insist(act: () => Promise<void>, hasEffect: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    // On a slow machine the effect of the last time may come now, and what was pressed be gone.
    await act().catch(() => {})
    try {
      return await hasEffect()
    } catch (error) {
      if (tries === 20) throw error
    }
  }
}

async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: /message/i })
  await box.fill(text)
  await page.getByRole('button', { name: /^(Send|Queue)/ }).click()
}

function readNotes(home: string): string {
  return readFileSync(join(home, 'demo', 'notes.md'), 'utf8')
}
