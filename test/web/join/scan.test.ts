import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('where a code is scanned, the command that shows one can be copied', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await openStory(page, origin, '/?app=scan', 'light')
  const line = `afield login --server ${origin}`
  await page.getByText('No code yet? Run this on the computer:').waitFor({ timeout: 5000 })
  t.equal((await page.locator('.link-command code').innerText()).replace(/\s+/g, ' ').trim(), line)
  await page.locator('.link-command button').click()
  await page.getByRole('button', { name: 'Copied' }).waitFor({ timeout: 5000 })
  t.equal(await page.evaluate(() => navigator.clipboard.readText()), line)
})
