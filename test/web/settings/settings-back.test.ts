import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('Back in the bar of a settings page leads to the page above it', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  for (const [story, above] of [
    ['device-none', '/settings/devices'],
    ['rules-none', '/settings']
  ] as const) {
    await openStory(page, origin, `/?app=${story}`, 'light')
    t.equal(await page.locator('.bar .back').getAttribute('href'), above, story)
  }
})
