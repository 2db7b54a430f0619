import t from 'tap'
import { formatBackupKey } from '../../../lib/crypto/index.ts'
import { openChromium } from '../../kit/chromium.ts'
import { goTo } from '../kit/on-the-page.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

/** That of the account in the stories. */
const key = formatBackupKey(Buffer.from('mqhE2xQ8yTf7pZrN0aLwKdVbJcUsGi1o3Xl5Yk9HtA4=', 'base64'))

t.test('a locked app opens with the account key, however it is typed, and with no other', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=locked', 'light')
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const field = page.getByLabel('Account key')
  const [failed, wrong] = [page.getByText('Unlocking failed.'), page.getByText('That is not the key to this account.')]
  const heading = page.getByRole('heading', { name: 'Afield is locked' })
  t.ok(await heading.evaluate(each => each === document.activeElement), 'screen readers begin there')
  await press('Unlock')
  await failed.waitFor()
  await press('Use the account key instead')
  await failed.waitFor({ state: 'detached' })
  t.equal(await page.getByRole('button', { name: 'Use the account key instead' }).count(), 0)
  for (const other of ['', key.slice(1), `${key}A`]) {
    await field.fill(other)
    await press('Unlock')
    await wrong.waitFor()
    t.equal(await heading.count(), 1, other)
  }
  t.equal(await page.locator('.row').first().isVisible(), false, 'nothing from the account is shown')
  await field.fill(key.toLowerCase().replaceAll('-', ' '))
  await press('Unlock')
  await page.locator('.row').first().waitFor()

  await goTo(page, '/settings')
  const title = await page.title()
  t.match(title, /Settings/)
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await heading.waitFor()
  t.equal(await page.title(), 'Afield is locked · Afield', 'nor does the title say where one was')
  await press('Use the account key instead')
  await field.fill(key)
  await press('Unlock')
  await heading.waitFor({ state: 'detached' })
  await page.waitForFunction(shown => document.title === shown, title)
})
