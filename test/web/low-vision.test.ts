import type { Page } from 'playwright-core'
import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { sampleOf } from '../kit/seed.ts'
import { lookForLost } from './kit/look-for-lost.ts'
import { openStory, storyPaths } from './kit/open-story.ts'
import { serveStories } from './stories/serve.ts'

const { origin, close } = await serveStories()
t.teardown(close)
const browser = await openChromium(t)
const large = await openChromium(t, { fontSize: 32 })

const sizes = { 'the narrowest phone': [320, 640], 'a phone': [390, 844], 'a desktop': [1280, 800] } as const

const paths = await storyPaths(browser, origin)
// Each has others of them.
let turn = 0

for (const [where, [width, height]] of Object.entries(sizes)) {
  for (const [text, look] of [
    ['the usual text', browser],
    ['twice the text', large]
  ] as const) {
    t.test(`with ${text} on ${where} nothing leaves the screen, is cut off or becomes unreachable [app-design §12]`, async t => {
      const context = await look.newContext({ viewport: { width, height }, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await eachStory(page, async path => t.same(await page.evaluate(lookForLost), [], path))
      await context.close()
    })
  }
}

t.test('a reader who doubles the text size gets it', async t => {
  const page = await large.newPage()
  await openStory(page, origin, '/?story=steps', 'light')
  t.equal(await page.evaluate(() => getComputedStyle(document.body).fontSize), '32px')
})

t.test('with reduced motion nothing moves [app-design §10]', async t => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await eachStory(page, async path => t.same(await page.evaluate(lookForMotion), [], path))
  await context.close()
})

async function eachStory(page: Page, check: (path: string) => Promise<unknown>): Promise<void> {
  const { seed, sample } = sampleOf(paths, 3, { turn: turn++ })
  for (const path of sample) {
    await openStory(page, origin, path, 'light')
    await check(`${path}, AFIELD_SEED=${seed}`)
  }
}

/** Animations longer than a blink; a delay before something appears is no movement. */
function lookForMotion(): string[] {
  return document
    .getAnimations()
    .filter(({ effect, playState }) => playState === 'running' && Number(effect?.getComputedTiming().activeDuration ?? 0) > 20)
    .map(animation => {
      const { target } = animation.effect as KeyframeEffect
      return `${target?.tagName} ${target?.className}`
    })
}
