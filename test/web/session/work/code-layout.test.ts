import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('the diff layout can be chosen next to changes and in the settings, and wrapping them wraps no code in a conversation', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 1280, height: 800 } })
  page.setDefaultTimeout(10_000)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await openStory(page, origin, '/?story=work-changes', 'light')
  t.equal(await button('Side by side').getAttribute('aria-pressed'), 'true')
  await button('Wrap long lines').click()
  await button('Side by side').click()
  await page.locator('button[aria-pressed=false][aria-label="Side by side"]').waitFor()

  const chosen = await page.evaluate(() => [localStorage.getItem('afield-sideBySide'), localStorage.getItem('afield-wrap')])
  t.same(chosen, ['false', null])
  await page.evaluate(() => localStorage.setItem('afield-sideBySide', 'true'))
  await openStory(page, origin, '/?story=work-changes', 'light')
  t.equal(await button('Side by side').getAttribute('aria-pressed'), 'true', 'as the settings have it')
})
