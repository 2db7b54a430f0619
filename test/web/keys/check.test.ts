import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('the instructions to check a key by its file do not claim that there is one', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=check', 'light')
  const others = page.locator('.foot').getByRole('button')
  t.same(await others.allInnerTexts(), ['Check', 'Check with a key file instead', 'Show me the key again'])
  await page.getByRole('button', { name: 'Check with a key file instead' }).click()
  await page.getByRole('button', { name: 'Open a key file' }).waitFor()
  await page.getByRole('button', { name: 'Check with three groups instead' }).waitFor()
})
