import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('taking over a session from a terminal asks first when something runs there, and says what', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=take-over', 'light')
  const sheet = page.getByRole('dialog')
  t.match(await sheet.innerText(), /Taking over ends[\s\S]*npm run watch\nnode scripts\/serve\.js/)
  await sheet.getByRole('button', { name: 'Leave it there' }).click()
  await sheet.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Take over', exact: true }).waitFor()
})
