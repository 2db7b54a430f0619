import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('who signs out is led to check the account key first, unless it was checked', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(8000)
  for (const [story, links] of Object.entries({ settings: 0, 'settings-unchecked': 1 })) {
    await openStory(page, origin, `/?app=${story}`, 'light')
    await page.getByRole('button', { name: 'Sign out' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByRole('button').last().waitFor()
    t.equal(await sheet.getByRole('link', { name: 'Check my key first' }).count(), links, story)
  }
})
