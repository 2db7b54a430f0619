import t from 'tap'
import { hasHidden } from '../../../../lib/protocol/sealed/decisions/hidden-characters.ts'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('a card whose neighbour was just decided ignores a tap meant for that one [acceptance 1]', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 1400 } })
  page.setDefaultTimeout(10_000)
  await page.clock.install()
  await openStory(page, origin, '/?app=home-allow', 'light')
  const allow = page.getByRole('button', { name: /^Allow once/ })
  await allow.nth(1).waitFor()
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.clock.runFor(450)
  await allow.first().click()
  await page.locator('.life').waitFor()
  await allow.first().click({ force: true })
  t.equal(await page.locator('.life').count(), 1)
  await page.clock.runFor(450)
  await allow.first().click()
  await page.locator('.life').nth(1).waitFor()
  t.equal(await allow.count(), 0)
})

t.test('without a confirmed link, or next to a main pane, a card only opens the decision', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=home-allow-offline', 'light')
  await page.getByText('Bump esbuild').first().waitFor()
  t.equal(await page.getByRole('button', { name: /^Allow/ }).count(), 0)
  await page.setViewportSize({ width: 1200, height: 844 })
  await openStory(page, origin, '/?app=home-allow', 'light')
  await page.getByText('Bump esbuild').first().waitFor()
  t.equal(await page.getByRole('button', { name: /^Allow/ }).count(), 0)
})

t.test('without a link, a waiting session is not called quiet', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=home-waiting-offline', 'light')
  await page.getByRole('heading', { name: /^1 needed you at / }).waitFor()
  t.equal(await page.getByText('All was quiet').count(), 0)
})

t.test('a request with a hidden character is never allowed in a card, and no card shows it as if nothing were hidden', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=home-allow-hidden', 'light')
  const card = page.locator('.ask', { hasText: 'Read the state once' })
  await card.getByRole('link', { name: 'Review' }).waitFor()
  t.equal(await card.getByRole('button').count(), 0)
  t.equal(hasHidden((await card.innerText()).replaceAll('\xa0', ' ')), false)
  t.equal(await page.getByRole('button', { name: /^Allow once/ }).count(), 1, 'the other one can be')
})
