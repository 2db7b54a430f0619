import type { Locator, Page } from 'playwright-core'

/** A real touch, as Chromium receives it from a touch screen, not an emulated mouse. */
export async function drag(page: Page, on: Locator, by: { x?: number; y?: number }): Promise<void> {
  const { x, y } = await middleOf(on)
  const touch = await finger(page)
  await touch.down(x, y)
  for (let step = 1; step <= steps; step++) await touch.move(x + ((by.x ?? 0) * step) / steps, y + ((by.y ?? 0) * step) / steps)
  await touch.up()
}

/** Presses and holds until a condition is met. */
export async function press(page: Page, on: Locator, until: () => Promise<unknown>): Promise<void> {
  const { x, y } = await middleOf(on)
  const touch = await finger(page)
  await touch.down(x, y)
  await until()
  await touch.up()
}

const steps = 12

async function finger(page: Page) {
  const line = await page.context().newCDPSession(page)
  const tell = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: { x: number; y: number }[]) =>
    line.send('Input.dispatchTouchEvent', { type, touchPoints: points })
  return {
    down: (x: number, y: number) => tell('touchStart', [{ x, y }]),
    move: (x: number, y: number) => tell('touchMove', [{ x, y }]),
    async up() {
      await tell('touchEnd', [])
      await line.detach()
    }
  }
}

async function middleOf(on: Locator): Promise<{ x: number; y: number }> {
  const box = await on.boundingBox()
  if (box === null) throw new Error('it is not on the screen')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}
