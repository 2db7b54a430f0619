import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

const { origin, close } = await serveStories()
t.teardown(close)
const browser = await openChromium(t)

t.test('who is notified of an open decision can be put in another order, and the last one stays', async t => {
  const page = await open(t, 'unanswered-order')
  const names = async () => (await page.locator('.order-row b').allInnerTexts()).map(name => name.split(',')[0])
  const times = () => page.locator('.order-row small').allInnerTexts()
  const box = (name: string) => page.locator('.order-row', { hasText: name }).getByRole('checkbox')
  t.same(await names(), ['Webhook', 'ntfy', 'Browser'])
  t.same(await times(), ['After 5 min', 'After 10 min'])
  t.equal(await page.getByRole('button', { name: /^Notify Webhook/ }).count(), 0, 'the first cannot come sooner')
  await page.getByRole('button', { name: /^Notify ntfy, added here sooner/ }).click()
  await page.getByRole('button', { name: /^Notify Webhook/ }).waitFor()
  t.same(await names(), ['ntfy', 'Webhook', 'Browser'])

  await box('Browser').check()
  t.same(await times(), ['After 5 min', 'After 10 min', 'After 15 min'])
  await page.getByRole('radio', { name: 'After 2 min' }).check()
  t.same(await times(), ['After 2 min', 'After 4 min', 'After 6 min'])
  await page.getByText('They are notified one after the other').waitFor()
  await box('ntfy').uncheck()
  await box('Browser').uncheck()
  t.same(await names(), ['Webhook', 'Browser', 'ntfy'])
  t.same(await times(), [])
  t.ok(await box('Webhook').isDisabled())
  t.notOk(await box('ntfy').isDisabled())

  await page.getByRole('radio', { name: 'Notify no one else' }).check()
  await page.locator('.order-row').first().waitFor({ state: 'detached' })
  await page.getByRole('radio', { name: 'After 15 min' }).check()
  t.ok(await box('Browser').isChecked(), 'the first of the others, after nobody')
  t.same((await names()).length, 3)
})

t.test('quiet hours have at least one day', async t => {
  const page = await open(t, 'quiet')
  const day = (name: string) => page.getByRole('checkbox', { name })
  const hint = page.getByText('Choose at least one day.')
  for (const name of ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']) await day(name).uncheck()
  t.equal(await hint.count(), 0)
  await day('Sunday').click()
  await hint.waitFor()
  t.ok(await day('Sunday').isChecked())
  await day('Wednesday').check()
  await hint.waitFor({ state: 'detached' })
  t.equal(await page.getByLabel('Notify me at', { exact: true }).count(), 0, 'only what is collected has a time')
})

t.test('quiet hours that are turned off and on again are as before', async t => {
  const page = await open(t, 'quiet-collect')
  await page.getByLabel('Notify me at', { exact: true }).fill('09:30')
  const collects = page.getByRole('radio', { name: 'Collect, notify me at 09:30', checked: true })
  await collects.waitFor()
  const quiet = page.getByRole('switch', { name: /^Quiet hours on this device/ })
  await quiet.click()
  await page.getByRole('checkbox').first().waitFor({ state: 'detached' })
  await quiet.click()
  await collects.waitFor()
  const chosen = page.getByRole('checkbox', { checked: true })
  t.same(await chosen.evaluateAll(all => all.map(each => each.ariaLabel)), ['Monday', 'Tuesday', 'Wednesday', 'Friday'])
})

async function open(t: Test, story: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  t.teardown(() => page.close())
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  await openStory(page, origin, `/?app=${story}`, 'light')
  return page
}
