import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('unsent text is edited in place: leaving keeps it, saving replaces it, and both return to the button', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(8000)
  await openStory(page, origin, '/?app=leaving', 'light')
  const edit = page.locator('[data-changes=k1]')
  const text = page.locator('.leaving-form textarea')
  const save = page.getByRole('button', { name: 'Save', exact: true })
  const left = () => page.locator('[data-changes=k1]:focus').waitFor()

  await edit.click()
  await page.locator('.leaving-form textarea:focus').waitFor()
  t.equal(await text.inputValue(), 'Update the lock file.')
  await text.fill('Not this')
  await text.press('a')
  t.equal(await text.count(), 1, 'another key only writes')
  await text.press('Escape')
  await left()

  await edit.click()
  t.equal(await text.inputValue(), 'Update the lock file.')
  await text.fill('  ')
  await save.click()
  t.equal(await text.inputValue(), '  ', 'nothing is no text')
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await left()

  await edit.click()
  await text.fill(' Update both. ')
  await save.click()
  await left()
  await edit.click()
  t.equal(await text.inputValue(), 'Update both.')
})
