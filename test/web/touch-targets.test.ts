import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { lookForSmall } from './kit/look-for-small.ts'
import { openStory, storyPaths } from './kit/open-story.ts'
import { sampleOf } from './kit/story-sample.ts'
import { serveStories } from './stories/serve.ts'

const sizes = { 'a phone': [390, 844], 'a tablet': [1280, 800] } as const

t.test('every press target is at least 44 px in each direction [app-design §12]', async t => {
  const { origin, close } = await serveStories(t.testdir())
  t.teardown(close)
  const browser = await openChromium(t)
  for (const [where, [width, height]] of Object.entries(sizes)) {
    const context = await browser.newContext({ viewport: { width, height }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const { seed, sample } = sampleOf(await storyPaths(page, origin), 16)
    for (const path of sample) {
      await openStory(page, origin, path, 'light')
      t.same(await page.evaluate(lookForSmall), [], `${path}, ${where}, AFIELD_SEED=${seed}`)
    }
    await context.close()
  }
})
