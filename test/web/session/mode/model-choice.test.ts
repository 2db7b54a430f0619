import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('a new session offers the models that its agent reported, and accepts any other by name', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=new-more', 'light')
  await page.getByRole('radio', { name: /^studio-mini/ }).check()
  const model = page.getByLabel('Model', { exact: true })
  await model.locator('option').first().waitFor({ state: 'attached' })
  await page.locator('details.more:not([open]) summary').click()
  t.same(await model.locator('option').allInnerTexts(), ['Agent default', 'Opus', 'Sonnet', 'Another model…'])
  t.equal(await model.inputValue(), '')
  await model.selectOption('Opus')
  t.equal(await page.getByLabel('Model name').count(), 0)
  await model.selectOption('Another model…')
  await page.getByLabel('Model name').fill('opus-next')
  t.equal(await model.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.textContent), 'Another model…')
})
