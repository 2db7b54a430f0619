import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('in a real browser', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const open = async (t: Test, at: string, { isHeld = false } = {}): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    t.teardown(() => page.close())
    page.setDefaultTimeout(10_000)
    await page.clock.install()
    // The clock stands still where a test is about single moments.
    if (isHeld) await page.clock.pauseAt(Date.now() + 1000)
    if (isHeld) await page.goto(`${origin}${at}`)
    else await openStory(page, origin, at, 'light')
    return page
  }
  const show = (page: Page, state: 'visible' | 'hidden') =>
    page.evaluate(state => {
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)

  t.test('a notice that was only viewed disappears after 10 s on the screen', async t => {
    const page = await open(t, '/?story=read-stopped', { isHeld: true })
    const notice = page.locator('.notices article')
    await notice.waitFor()
    await show(page, 'hidden')
    await page.clock.runFor(30_000)
    t.equal(await notice.count(), 1, 'the page was hidden')
    await show(page, 'visible')
    await page.clock.runFor(9_900)
    t.equal(await notice.count(), 1)
    await page.clock.runFor(200)
    await notice.waitFor({ state: 'detached' })
  })

  t.test('one for a turn that continues stays, and so does one for an answer that had no effect', async t => {
    for (const [story, count] of [
      ['read-elsewhere', 1],
      ['elsewhere', 2]
    ] as const) {
      const page = await open(t, `/?story=${story}`)
      const notices = page.locator('.notices article')
      await notices.first().waitFor()
      await page.clock.runFor(15_000)
      t.equal(await notices.count(), count, story)
    }
  })

  t.test('a request whose answer was not applied is asked again by the resumed session', async t => {
    const page = await open(t, '/?story=not-applied')
    await page.getByRole('button', { name: 'Resume and ask again' }).click()
    await page.locator('.notices').waitFor({ state: 'detached' })
    t.equal(await page.evaluate(`story.asked.value.resume`), 'asking')
    t.match(await page.evaluate(`story.texts.waiting.value.map(({ text }) => text)`), [/npm run build/])
  })

  t.test('the menu leads to mode and model when there is a choice', async t => {
    const page = await open(t, '/?story=plain')
    await page.getByRole('button', { name: 'Session menu' }).click()
    await page.getByRole('menuitem', { name: 'Mode and model' }).click()
    await page
      .getByRole('dialog')
      .getByRole('radio', { name: /^Ask first/, checked: true })
      .waitFor()
    await page.getByRole('dialog').getByRole('radio', { name: 'Opus', checked: true }).waitFor()
    const ended = await open(t, '/?story=ended')
    await ended.getByRole('button', { name: 'Session menu' }).click()
    await ended.getByRole('menuitem', { name: 'Session info' }).waitFor()
    t.equal(await ended.getByRole('menuitem', { name: 'Mode and model' }).count(), 0)
  })

  t.test('two step summaries with the same text are both announced', async t => {
    const page = await open(t, '/?story=opening')
    await page.evaluate(`story.feed.value = 'live'`)
    const told = page.locator('[data-announces]')
    await told.evaluate(region => {
      const heard: string[] = []
      Object.assign(globalThis, { heard })
      new MutationObserver(() => region.textContent && heard.push(region.textContent)).observe(region, {
        childList: true,
        subtree: true,
        characterData: true
      })
    })
    for (const times of [1, 2]) {
      await page.evaluate(`run('npm test')`)
      await page.clock.runFor(5_100)
      await page.waitForFunction(times => Reflect.get(globalThis, 'heard').length >= times, times)
    }
    const [first, second] = (await page.evaluate(`heard`)) as string[]
    t.match(first, /1 step/)
    t.equal(second, first)
  })

  t.test("a row says when its agent's request cannot be decrypted here", async t => {
    const page = await open(t, '/?app=home-sealed-state')
    await page.getByRole('link', { name: /Rotate the signing keys.*Cannot decrypt its request/ }).waitFor()
    t.equal(await page.getByText('Cannot decrypt its request').count(), 1, 'and of no other')
  })
})
