import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('the first run counts the steps that this device shows: the lock only if there is one, the check of the key never', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage()
  const open = (story: string) => openStory(page, origin, `/?app=${story}`, 'light')
  const shows = async (story: string, step: string) => {
    await open(story)
    await page.locator('.flow .bar-t', { hasText: step }).waitFor({ timeout: 5000 })
    t.pass(`${story}: ${step}`)
  }
  // This browser has no screen lock; in the stories of a first run it pretends to have one.
  await shows('create', 'Step 1 of 2')
  await shows('key', 'Step 2 of 3')
  await shows('check', 'Step 2 of 3')
  await shows('lock-offer', 'Step 3 of 3')
  await open('key-reminded')
  t.equal(await page.locator('.flow .bar-t').innerText(), '', 'after the first run there are no steps')
})
