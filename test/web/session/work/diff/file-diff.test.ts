import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openChromium } from '../../../../kit/chromium.ts'
import { openStory } from '../../../kit/open-story.ts'
import { serveStories } from '../../../stories/serve.ts'

const { origin, close } = await serveStories()
t.teardown(close)
const browser = await openChromium(t)

t.test('what has no lines to show says what changed: its size, or its commit', async t => {
  const page = await open(t, 'work-kinds', { width: 1280, height: 4000 })
  const said: [file: string, says: string][] = [
    ['data/seed.bin', 'Not a text file, so its lines are not shown. 20.5 kB before, 21.0 kB now.'],
    ['data/new.bin', 'Not a text file, so its lines are not shown. nothing before, 512 B now.'],
    ['themes/dark', 'Submodule. From commit nothing to 0f1e2d3c.']
  ]
  for (const [file, says] of said) {
    await page.getByRole('article', { name: file }).getByText(says, { exact: true }).waitFor()
    t.pass(file)
  }
})

t.test('comments are written with keys alone: arrows lead from line to line, Escape leaves, Enter with Ctrl adds', async t => {
  const page = await open(t, 'work-file', { width: 800, height: 900 })
  const table = page.getByRole('region', { name: 'Lines of src/auth/callback.ts' })
  const lines = await table.getByRole('button', { name: /^Comment on line/ }).evaluateAll(all => all.map(each => each.ariaLabel))
  const press = async (key: string) => {
    await page.keyboard.press(key)
    return page.evaluate(() => document.activeElement?.ariaLabel)
  }
  await table.focus()
  t.equal(await press('ArrowUp'), 'Lines of src/auth/callback.ts')
  t.equal(await press('ArrowDown'), lines[0])
  t.equal(await press('ArrowDown'), lines[1])
  t.equal(await press('x'), lines[1])
  t.equal(await press('ArrowUp'), lines[0])
  t.equal(await press('ArrowUp'), lines[0], 'above the first line there is none')

  const field = page.getByPlaceholder('What should the agent know?')
  await page.keyboard.press('Enter')
  await field.press('Control+Enter')
  await field.fill('Not now')
  await field.press('ArrowDown')
  await field.press('Escape')
  await field.waitFor({ state: 'detached' })
  await table.getByRole('button', { name: lines[1] ?? '', exact: true }).press('Enter')
  await field.fill(' Why not null? ')
  await field.press('Enter')
  await field.press('Control+Enter')
  await field.waitFor({ state: 'detached' })
  await page.getByText('Why not null?').waitFor()
  await page.getByRole('button', { name: 'Send 1 comment' }).click()
  await page.getByRole('button', { name: 'Comment', exact: true }).waitFor()
  t.match(await page.evaluate('sent'), /^1 comment on the changes:\n\nsrc\/auth\/callback\.ts, .*line \d+\n> .*\nWhy not null\?$/)
})

t.test('of a long file only the lines near the screen are drawn, and its height stays', async t => {
  const page = await open(t, 'work-long', { width: 800, height: 900 })
  const drawn = () => page.locator('.wdiff code').count()
  await page.getByText('export const value0 = 0', { exact: true }).waitFor()
  const first = await drawn()
  t.ok(first >= 100 && first < 400, `${first} of 1500`)
  const height = () => page.locator('.wdiff').evaluate(({ scrollHeight }) => scrollHeight)
  const before = await height()
  t.ok(before > 1500 * 15, 'what is not drawn has a place')
  await page.locator('.wdiff').evaluate(element => element.lastElementChild?.scrollIntoView({ block: 'end' }))
  await page.getByText('export const value1499 = 1499', { exact: true }).waitFor()
  await page.getByText('export const value0 = 0', { exact: true }).waitFor({ state: 'detached' })
  t.ok((await drawn()) < 500)
  t.ok(Math.abs((await height()) - before) < 0.2 * before)
})

async function open(t: Test, story: string, viewport: { width: number; height: number }): Promise<Page> {
  const page = await browser.newPage({ viewport })
  t.teardown(() => page.close())
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  await openStory(page, origin, `/?story=${story}`, 'light')
  return page
}
