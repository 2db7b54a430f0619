import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('an interactive story works in Chinese too, with Chinese punctuation between its parts', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  // Names in full, by their beginning, with a parameter, and a state to wait for.
  for (const path of ['/?story=question-unsaid', '/?app=new-starting-low-data', '/?app=machine-end', '/?app=take-over']) {
    await openStory(page, origin, `${path}&language=zh`, 'light')
  }
  t.match(await page.getByRole('dialog').innerText(), /那里还有程序在运行/)
  t.match(await page.locator('main').innerText(), /的终端中打开。/)
  await openStory(page, origin, '/?story=plain&language=zh', 'light')
  t.match(await page.locator('main').innerText(), /退出码 0，/)
})
