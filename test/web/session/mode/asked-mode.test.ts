import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('a chosen mode is shown as not set until the machine has it, and reverted if it does not', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  const mode = page.locator('button.pill')
  await openStory(page, origin, '/?story=mode-asked', 'light')
  t.match(await mode.innerText(), /^Plan only\s+· not set yet…$/)
  const send = await page.getByRole('button', { name: 'Send' }).boundingBox()
  t.equal(
    send?.y,
    (
      await page
        .getByRole('button', { name: /Attach|Add/ })
        .first()
        .boundingBox()
    )?.y,
    'in one row'
  )
  await openStory(page, origin, '/?story=mode-refused', 'light')
  t.notMatch(await mode.innerText(), /Plan|not set/)
  t.match(await page.locator('.pill.bad').innerText(), 'could not change it')
  await page.evaluate('story.choices.value = {}')
  await page.locator('button.pill', { hasText: /^Ask firstOpus$/ }).waitFor()
  await page.evaluate('story.facts.value = { ...story.facts.value, mode: undefined }')
  await page.locator('button.pill', { hasText: /^Opus$/ }).waitFor()
  await page.evaluate('story.facts.value = { ...story.facts.value, models: [] }')
  await page.locator('button.pill', { hasText: /^Mode$/ }).waitFor()
})
