import t from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { openStory } from '../../kit/open-story.ts'
import { serveStories } from '../../stories/serve.ts'

t.test('clipboard contents can be pasted from the menu, without a keyboard', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const open = async (permissions: string[]) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, permissions })
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    await openStory(page, origin, '/?story=empty', 'light')
    const paste = async () => {
      await page.getByRole('button', { name: 'Add to the message' }).click()
      await page.getByRole('menuitem', { name: 'Paste' }).click()
    }
    return { page, paste, area: page.locator('.composer textarea') }
  }

  t.test('text is pasted at the caret, and a picture is attached', async t => {
    const { page, paste, area } = await open(['clipboard-read', 'clipboard-write'])
    await page.evaluate(() => navigator.clipboard.writeText('of the copied'))
    await area.fill('Words ')
    await paste()
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('.composer textarea')?.value === 'Words of the copied')
    await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(8, 8)
      canvas.getContext('2d')?.fillRect(0, 0, 8, 8)
      const picture = await canvas.convertToBlob({ type: 'image/png' })
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })])
    })
    await paste()
    await page.getByRole('button', { name: 'Remove image.png' }).waitFor()
    t.equal(await page.locator('.toast', { hasText: 'Nothing to paste' }).count(), 0)
    t.equal(await area.inputValue(), 'Words of the copied')
  })

  t.test('an empty clipboard is reported, and changes nothing', async t => {
    const { page, paste, area } = await open(['clipboard-read', 'clipboard-write'])
    await page.evaluate(() => navigator.clipboard.writeText(''))
    await area.fill('Words')
    await paste()
    await page.locator('.toast', { hasText: 'Nothing to paste' }).waitFor()
    t.equal(await area.inputValue(), 'Words')
  })

  t.test('a browser that denies clipboard access is reported, with an alternative', async () => {
    const { page, paste } = await open([])
    await paste()
    await page.locator('.toast', { hasText: 'Long-press the text field' }).waitFor()
  })
})
