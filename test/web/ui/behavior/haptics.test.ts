import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('a sent message vibrates, a failed one vibrates differently, and nothing vibrates with reduced motion', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const feltAfterSending = async (reducedMotion: 'reduce' | 'no-preference', isKept: boolean) => {
    const page = await (await browser.newContext({ reducedMotion })).newPage()
    page.setDefaultTimeout(10_000)
    await page.addInitScript(() => {
      const felt: unknown[] = []
      Object.assign(globalThis, { felt })
      navigator.vibrate = pattern => felt.push(pattern) > 0
    })
    await openStory(page, origin, '/?story=empty', 'light')
    if (!isKept) await page.evaluate("story.texts.send = () => Promise.reject(new Error('no room'))")
    await page.locator('.composer textarea').fill('Go on')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForFunction(
      isKept => (document.querySelector('.composer textarea') as HTMLTextAreaElement).value === (isKept ? '' : 'Go on'),
      isKept
    )
    return page.evaluate<number[][]>('felt')
  }
  t.same(await feltAfterSending('no-preference', true), [[20]])
  t.same(await feltAfterSending('no-preference', false), [[20], [30, 60, 30]])
  t.same(await feltAfterSending('reduce', false), [])
})
