import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('the details of a session have what its last step used, if the agent reports it', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.fail(`an error: ${error.message}`))
  const facts = page.locator('dl.facts')
  await openStory(page, origin, '/?story=info&framed', 'light')
  await facts.getByText('31,200 read, 340 written').waitFor()
  await facts.getByText('$0.40').waitFor()
  await openStory(page, origin, '/?story=info-compromised&framed', 'light')
  await facts.getByText('studio-mini').waitFor()
  t.equal(await facts.getByText(/ read, /).count(), 0)
})
