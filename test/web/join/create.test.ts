import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('creating an account after too many tries says so', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  await openStory(page, origin, '/?app=create-too-many-tries', 'light')
  await page.getByRole('alert').filter({ hasText: 'Too many' }).waitFor({ timeout: 8000 })
})
