import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { readBackupKey } from '../../lib/crypto/index.ts'
import { openChromium } from '../kit/chromium.ts'
import { startServerProcess } from '../kit/server.ts'
import { type Phone, startPhone } from '../wrapper/kit/phone.ts'
import { readCode } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

const phoneSize = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

t.test('a person with a phone guides an agent through its work, and through a server crash', async t => {
  const data = join(t.testdir(), 'data')
  const home = join(t.testdirName, 'home')
  const first = await startServerProcess(t, { data, signup: 'owner' })
  const browser = await openChromium(t, { isWhole: true })
  const context = await browser.newContext(phoneSize)
  const page = await openPage(t, context)

  await page.goto(`${first.url}/#setup=${readFileSync(join(data, 'setup-code'), 'utf8').trim()}`)
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
  const second = await startServerProcess(t, { data, signup: 'owner', port: Number(new URL(first.url).port) })
  await page.getByText('After it.', { exact: true }).waitFor()

  const kept = await storedTexts(t, second, secret, session.id)
  const told = agentTexts(home)
  t.equal(told.at(-1), 'After it.')
  t.strictSame(kept, told, 'the server has everything the agent said, once and in order')
  const shown = await page.getByRole('log').textContent()
  t.same(missingInOrder(shown ?? '', told.map(withoutMarks)), [], 'and so has the phone')

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
  page.setDefaultTimeout(20_000)
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
    await act()
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

/** The agent's own record of what it said, one text per message. */
function agentTexts(home: string): string[] {
  const folder = join(home, 'demo-conversations')
  const [file = ''] = readdirSync(folder)
  const { history } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const texts = new Map<string, string>()
  for (const { sessionUpdate, messageId, content } of history) {
    if (sessionUpdate === 'agent_message_chunk') texts.set(messageId, (texts.get(messageId) ?? '') + content.text)
  }
  return [...texts.values()].map(text => text.trim())
}

async function storedTexts(t: Test, server: { url: string }, secret: Uint8Array, id: string): Promise<string[]> {
  const reader: Phone = await startPhone(t, server, secret)
  const session = await reader.session()
  t.equal(session.id, id)
  await session.until(({ messages }) => messages.length > 0)
  const said = () => session.events().flatMap(event => (event.t === 'text' && !event.thinking ? [String(event.text).trim()] : []))
  await session.until(() => said().at(-1) === 'After it.' && session.events().at(-1)?.t === 'turn-end')
  return said()
}

/** Markdown as it reads when rendered. */
function withoutMarks(markdown: string): string {
  return markdown.replace(/^\d+\. /gm, '').replace(/[*`]/g, '')
}

/** The texts that are missing from the page or out of order, ignoring white space. */
function missingInOrder(shown: string, texts: string[]): string[] {
  const flat = withoutBlanks(shown)
  let at = 0
  return texts.map(withoutBlanks).filter(text => {
    const found = flat.indexOf(text, at)
    if (found >= 0) at = found + text.length
    return found < 0
  })
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '')
}
