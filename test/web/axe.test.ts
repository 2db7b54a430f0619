import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { sampleOf } from '../kit/seed.ts'
import { bringAxe, seriousOn } from './kit/axe.ts'
import { openStory, storyPaths } from './kit/open-story.ts'
import { serveStories } from './stories/serve.ts'

const looks = [
  { size: 'phone', viewport: { width: 390, height: 844 }, theme: 'light', other: 'dark' },
  { size: 'desk', viewport: { width: 1280, height: 800 }, theme: 'dark', other: 'light' }
] as const

t.test('axe finds nothing serious on any screen in any of its states [app-design §12]', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const paths = await storyPaths(browser, origin)
  const look = async ({ size, viewport, theme, other }: (typeof looks)[number], turn: number) => {
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce' })
    await bringAxe(context)
    const page = await context.newPage()
    const { seed, sample } = sampleOf(paths, 5, { turn })
    for (const path of sample) {
      await openStory(page, origin, path, theme)
      t.same(await seriousOn(page), [], `${path}, ${size}, ${theme}, AFIELD_SEED=${seed}`)
      await page.evaluate(name => document.documentElement.setAttribute('data-theme', name), other)
      t.same(await seriousOn(page, ['color-contrast']), [], `${path}, ${size}, ${other}, AFIELD_SEED=${seed}`)
    }
    await context.close()
  }
  await Promise.all(looks.map(look))
})
