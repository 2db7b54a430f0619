import t, { type Test } from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

t.test('the list of everything to go to or run', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)

  async function open(t: Test) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    t.teardown(() => page.close())
    page.setDefaultTimeout(10_000)
    await openStory(page, origin, '/?app=home', 'light')
    const dialog = page.getByRole('dialog')
    await page.keyboard.press('Control+k')
    await dialog.waitFor()
    return {
      ...{ page, dialog },
      field: dialog.getByRole('combobox'),
      selected: () => dialog.getByRole('option', { selected: true }).innerText(),
      gone: () => dialog.waitFor({ state: 'detached' }),
      path: () => new URL(page.url()).pathname
    }
  }

  t.test('arrow keys go round, and Enter goes to what is selected', async t => {
    const { page, field, selected, gone, dialog, path } = await open(t)
    const [first = '', second = ''] = await dialog.getByRole('option').allInnerTexts()
    const last = (await dialog.getByRole('option').allInnerTexts()).at(-1)
    t.equal(await selected(), first)
    await field.press('ArrowDown')
    t.equal(await selected(), second)
    await field.press('ArrowUp')
    await field.press('ArrowUp')
    t.equal(await selected(), last)
    t.ok(
      await dialog.getByRole('option', { selected: true }).evaluate(each => {
        const { top, bottom } = each.getBoundingClientRect()
        const list = each.closest('.palette-list')?.getBoundingClientRect()
        return list !== undefined && top >= list.top - 1 && bottom <= list.bottom + 1
      }),
      'it is scrolled to'
    )
    await field.press('ArrowDown')
    t.equal(await selected(), first)
    await field.press('ArrowDown')
    await field.fill('go to')
    t.equal(await selected(), 'Go to Home', 'after each letter the first is selected')
    await field.fill('go settings')
    t.same(await dialog.getByRole('option').allInnerTexts(), ['Go to Settings'])
    await field.press('ArrowUp')
    t.equal(await selected(), 'Go to Settings', 'the only one')
    await field.press('Enter')
    await gone()
    await page.waitForURL(/\/settings$/)
    await page.goBack()
    await page.waitForURL(url => url.pathname === '/')
    t.equal(await dialog.count(), 0, 'Back does not open it again')
    t.equal(path(), '/')
  })

  t.test('a session is found by its name, or by where it is', async t => {
    const { dialog, field } = await open(t)
    const found = dialog.getByRole('option', { name: /SSO loses return path/ })
    const where = 'orchard-api · Claude Code · studio-mini'
    for (const query of ['sso path', 'studio claude sso']) {
      await field.fill(query)
      t.equal(await found.locator('small').innerText(), where)
    }
    await field.fill('settings')
    t.equal(await dialog.locator('small').count(), 0, 'a page is nowhere else')
  })

  t.test('a search without a match runs nothing', async t => {
    const { field, dialog, selected, path } = await open(t)
    t.equal(await dialog.getByText('No matches').count(), 0)
    await field.fill('nothing like this')
    await dialog.getByText('No matches').waitFor()
    for (const key of ['ArrowDown', 'ArrowUp', 'Enter']) await field.press(key)
    t.equal(await dialog.count(), 1)
    t.equal(path(), '/')
    await field.fill('')
    t.ok(await selected())
  })

  t.test('the pointer selects and runs, and a press beside it closes it, as Escape does', async t => {
    const { page, field, dialog, selected, gone, path } = await open(t)
    await field.click()
    t.equal(await dialog.count(), 1, 'a press inside leaves it open')
    await dialog.getByRole('option', { name: 'Open the archive' }).hover()
    t.equal(await selected(), 'Open the archive')
    await page.mouse.click(5, 790)
    await gone()
    const link = page.getByRole('link', { name: 'Settings' })
    for (const leave of [() => field.press('Escape'), () => page.goBack()]) {
      await link.focus()
      await page.keyboard.press('Control+k')
      await field.waitFor()
      await leave()
      await gone()
      t.ok(await link.evaluate(each => each === document.activeElement), 'and the focus is where it was')
    }
    t.equal(path(), '/')
    await page.keyboard.press('Control+k')
    await dialog.getByRole('option', { name: 'Open the archive' }).click()
    await gone()
    await page.waitForURL(/\/archive$/)
  })
})
