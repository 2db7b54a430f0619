import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('a session of an unlinked computer leads to the command that links it again', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=session-unlinked', 'light')
  await page.getByRole('link', { name: 'Link it again' }).click()
  await page.getByText('No code yet? Run this on the computer:').waitFor()
  t.match(await page.locator('.link-command code').innerText(), /login\s+--server/)
})
