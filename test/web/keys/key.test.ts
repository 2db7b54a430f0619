import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('the key is shown and hidden, and saved to a file with a name', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).last().click()

  await openStory(page, origin, '/?app=key', 'light')
  t.equal(await page.getByRole('dialog').count(), 0, 'the sheet opens only when asked for')
  await press('Save file')
  await page.getByRole('dialog').waitFor()

  await openStory(page, origin, '/?app=account-key', 'light')
  const groups = page.locator('.key-groups')
  t.equal(await groups.count(), 0)
  await press('Show the key')
  await groups.waitFor()
  await press('Hide the key')
  await groups.waitFor({ state: 'detached' })

  await openStory(page, origin, '/?app=key-file-plain', 'light')
  const saving = page.waitForEvent('download')
  await press('Save unencrypted')
  t.match((await saving).suggestedFilename(), /^afield-.*\.txt$/)
})
