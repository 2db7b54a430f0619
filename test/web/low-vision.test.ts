import type { Page } from 'playwright-core'
import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { lookForLost } from './kit/look-for-lost.ts'
import { openStory, storyPaths } from './kit/open-story.ts'
import { sampleOf } from './kit/story-sample.ts'
import { serveStories } from './stories/serve.ts'

const { origin, close } = await serveStories(t.testdir())
t.teardown(close)
const browser = await openChromium(t)

t.test(
  'with twice the text on the narrowest phone nothing leaves the screen, is cut off or cannot be reached [app-design §12]',
  async t => {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await eachStory(page, 8, async path => t.same(await page.evaluate(lookForLost), [], path))
    await context.close()
  }
)

t.test('for who wants less motion nothing moves [app-design §10]', async t => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await eachStory(page, 8, async path => t.same(await page.evaluate(lookForMotion), [], path))
  await context.close()
})

async function eachStory(page: Page, many: number, check: (path: string) => Promise<unknown>): Promise<void> {
  const { seed, sample } = sampleOf(await storyPaths(page, origin), many)
  for (const path of sample) {
    await openStory(page, origin, path, 'light')
    await check(`${path}, AFIELD_SEED=${seed}`)
  }
}

/** What runs for longer than a blink. */
function lookForMotion(): string[] {
  return document
    .getAnimations()
    .filter(({ effect, playState }) => playState === 'running' && Number(effect?.getComputedTiming().endTime ?? 0) > 20)
    .map(animation => {
      const { target } = animation.effect as KeyframeEffect
      return `${target?.tagName} ${target?.className}`
    })
}
