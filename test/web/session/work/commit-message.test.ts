import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('the suggested commit message is about the session, and the log marks its commits', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?story=work-changes', 'light')
  await page.getByRole('button', { name: 'Commit…' }).click()
  t.equal(await page.getByLabel('Message', { exact: true }).inputValue(), 'SSO loses return path')

  await openStory(page, origin, '/?story=work-log', 'light')
  const subjects = page.locator('.crow').filter({ hasText: 'Since this session started' }).locator('b')
  await subjects.first().waitFor()
  t.same(await subjects.allInnerTexts(), ['Lead people back to where they came from'])
})
