import type { Device } from '../../kit/browser.ts'

/** Tabs to the element with this name; every stop on the way must show its focus. */
export async function goTo(device: Device, name: string | RegExp): Promise<void> {
  const isIt = (text: string) => (typeof name === 'string' ? text === name : name.test(text))
  const passed: string[] = []
  for (let stops = 0; stops < 120; stops++) {
    await device.page.keyboard.press('Tab')
    const stop = await focused(device)
    if (stop.name !== '' && !stop.isVisible) throw new Error(`Nothing shows that ${stop.name} has the focus.`)
    if (isIt(stop.name)) return
    passed.push(stop.name)
  }
  throw new Error(`No key leads to ${name}, only to ${[...new Set(passed)].join(' | ')}`)
}

/** Tabs there and presses it. */
export async function press(device: Device, name: string | RegExp): Promise<void> {
  await device.page.getByText(name).or(device.page.getByLabel(name)).first().waitFor({ state: 'attached' })
  await goTo(device, name)
  await pressAwake(device)
}

/** Buttons that decide are inert for a moment after they appear. */
export async function pressAwake({ page }: Device, key = 'Enter'): Promise<void> {
  await letAwake({ page })
  await page.keyboard.press(key)
}

export async function letAwake({ page }: Pick<Device, 'page'>): Promise<void> {
  const awakeAt = (await page.evaluate(() => performance.now())) + 450
  await page.waitForFunction(at => performance.now() > at, awakeAt)
}

/** Waits until the element with this name has the focus. */
export async function seeFocusOn({ page }: Pick<Device, 'page'>, name: string | RegExp): Promise<void> {
  await page.waitForFunction(
    ({ source, flags }) => {
      const element = document.activeElement
      if (element === document.body) return false
      const label =
        element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.labels?.[0]?.textContent : undefined
      const text = (element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? '').trim()
      return flags === undefined ? text === source : new RegExp(source, flags).test(text)
    },
    typeof name === 'string' ? { source: name, flags: undefined } : { source: name.source, flags: name.flags }
  )
}

function focused({ page }: Device): Promise<{ name: string; isVisible: boolean }> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return { name: '', isVisible: false }
    const label =
      element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.labels?.[0]?.textContent : undefined
    const name = element.getAttribute('aria-label') ?? label ?? element.textContent ?? ''
    const marked = [element, element.nextElementSibling, element.parentElement, element.parentElement?.parentElement]
    const isMarked = marked.some(each => {
      if (!each) return false
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each)
      return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || (each === element && boxShadow !== 'none')
    })
    return { name: name.trim(), isVisible: isMarked }
  })
}
