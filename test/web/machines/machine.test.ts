import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('a machine is online or has a last-seen time, never both', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  const told = async (story: string) => {
    await openStory(page, origin, `/?app=${story}`, 'light')
    return page.locator('main').innerText()
  }
  const here = await told('machine')
  t.match(here, 'Online')
  t.notMatch(here, 'Last seen')
  const away = await told('machine-away')
  t.match(away, 'Last seen')
  t.notMatch(away, 'Online')
})
