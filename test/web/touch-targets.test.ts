import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { sampleOf } from '../kit/seed.ts'
import { lookForSmall } from './kit/look-for-small.ts'
import { openStory, storyPaths } from './kit/open-story.ts'
import { serveStories } from './stories/serve.ts'

const sizes = { 'a phone': [390, 844], 'a tablet': [1280, 800] } as const

t.test('every press target is at least 44 px in each direction [app-design §12]', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const paths = await storyPaths(browser, origin)
  for (const [turn, [where, [width, height]]] of Object.entries(sizes).entries()) {
    const context = await browser.newContext({ viewport: { width, height }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const { seed, sample } = sampleOf(paths, 8, { turn })
    for (const path of sample) {
      await openStory(page, origin, path, 'light')
      t.same(await page.evaluate(lookForSmall), [], `${path}, ${where}, AFIELD_SEED=${seed}`)
    }
    await context.close()
  }
})
