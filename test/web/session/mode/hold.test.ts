import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openChromium } from '../../../kit/chromium.ts'
import { serveStories } from '../../stories/serve.ts'

const { origin, close } = await serveStories()
t.teardown(close)
const browser = await openChromium(t)
const label = 'Hold to link'
const confirmed = 'These digits do not match this link'
const holdMs = 900

t.test('a hold goes on when a strip above moves the button from under the finger, and ends with the finger [U6]', async t => {
  const page = await open(t)
  const { x, y } = await pressDown(page)
  await page.clock.runFor(holdMs - 100)
  await moveDown(page, 90)
  await page.mouse.move(x + 1, y)
  t.equal(await page.getByText('Keep holding').count(), 0)
  await page.clock.runFor(100)
  await page.getByText(confirmed).waitFor()
  await page.mouse.up()

  await page.getByLabel('Check code').fill('4812')
  await moveDown(page, 0)
  await pressDown(page)
  await moveDown(page, 90)
  await page.mouse.up()
  await page.getByText('Keep holding until the bar is full.').last().waitFor()
  await page.clock.runFor(holdMs)
  t.equal(await page.getByText(confirmed).count(), 0, 'letting go counts wherever the button is by then')
})

t.test('a finger that slides off the button cancels the hold [U6]', async t => {
  const page = await open(t)
  const { x, y } = await pressDown(page)
  await page.mouse.move(x + 5, y + 5)
  t.equal(await page.getByText('Keep holding').count(), 0, 'trembling does not')
  await page.mouse.move(x, y - 120)
  await page.getByText('Keep holding until the bar is full.').last().waitFor()
  await page.clock.runFor(holdMs)
  t.equal(await page.getByText(confirmed).count(), 0)
  await page.mouse.up()
})

t.test('who cannot hold, as with a screen reader, confirms with a second tap, which works only after a moment [U6]', async t => {
  const page = await open(t)
  const button = page.locator('.hold')
  await button.dispatchEvent('click')
  const confirm = page.locator('.hold[aria-disabled=true]')
  await confirm.waitFor()
  t.notMatch(await confirm.innerText(), label)
  await page.clock.runFor(599)
  t.equal(await confirm.count(), 1)
  t.equal(await page.getByText(confirmed).count(), 0)
  await page.clock.runFor(1)
  await confirm.waitFor({ state: 'detached' })
  await button.dispatchEvent('click')
  await page.getByText(confirmed).waitFor()
})

async function pressDown(page: Page): Promise<{ x: number; y: number }> {
  const box = await page.getByRole('button', { name: label }).boundingBox()
  if (box === null) throw new Error('It is shown.')
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  await page.mouse.move(at.x, at.y)
  await page.mouse.down()
  return at
}

/** As a strip does that appears above the screen. */
async function moveDown(page: Page, px: number): Promise<void> {
  const below = await page.evaluate(height => {
    const [strip, button] = ['.strip-area', '.hold'].map(each => document.querySelector<HTMLElement>(each))
    if (!strip || !button) throw new Error('Both are there.')
    const before = button.getBoundingClientRect().top
    strip.style.paddingBlockEnd = `${height}px`
    return button.getBoundingClientRect().top - before
  }, px)
  if (px > 0 && below < 30) throw new Error(`The button moved only ${below} px.`)
}

async function open(t: Test): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 390, height: 700 } })
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.error(error, 'the page runs without an error'))
  await page.clock.install()
  await page.goto(`${origin}/?app=pair-machine`)
  await page.getByLabel('Check code').fill('4812')
  await page.clock.runFor(450)
  // How long the button is held is for the tests to say.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 100)
  return page
}
