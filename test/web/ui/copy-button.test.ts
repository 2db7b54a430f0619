import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

const { origin, close } = await serveStories()
t.teardown(close)
const browser = await openChromium(t)

t.test('a copy button copies the text itself, and says so', async t => {
  const page = await open(t, '/?story=plain')
  await page.locator('.dock').getByRole('button', { name: 'Copy the command' }).click()
  await page.locator('.dock').getByRole('button', { name: 'Copied' }).waitFor()
  t.equal(await page.evaluate(() => navigator.clipboard.readText()), 'npm run build')
  await openStory(page, origin, '/?app=machine-log', 'light')
  await page.getByRole('button', { name: 'Copy the log' }).click()
  await page.locator('.toast', { hasText: 'Copied' }).waitFor()
  t.match(await page.evaluate(() => navigator.clipboard.readText()), /^10:02:11 live\n/)
})

t.test('where the browser denies access to the clipboard, nothing reads as copied', async t => {
  const page = await open(t, '/?story=plain', () => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))
  })
  const denied = page.locator('.toast', { hasText: 'Not copied' })
  await page.locator('.dock').getByRole('button', { name: 'Copy the command' }).click()
  await denied.waitFor()
  t.equal(await page.getByRole('button', { name: 'Copied' }).count(), 0)
  await openStory(page, origin, '/?app=machine-log', 'light')
  await page.getByRole('button', { name: 'Copy the log' }).click()
  await denied.waitFor()
})

async function open(t: Test, path: string, before = () => {}): Promise<Page> {
  const permissions = ['clipboard-read', 'clipboard-write']
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, permissions })
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  await page.addInitScript(before)
  await openStory(page, origin, path, 'light')
  return page
}
