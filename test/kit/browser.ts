import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { type BrowserSettings, openChromium } from './chromium.ts'

/** Window size and theme: an upright phone by default. */
export interface DeviceLook {
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
}

/** One browser for a whole test file; every device is a profile of it. */
export async function openDevices(
  t: Test,
  settings?: BrowserSettings
): Promise<{ open(t: Test, url: string, look?: DeviceLook): Promise<Device> }> {
  const browser = await openChromium(t, { ...settings, isWhole: true })
  return { open: (t, url, look = {}) => openDevice(t, browser, url, look) }
}

/** A person's phone or desktop with the app of one server, in Chromium. Any browser error fails the test. */
export class Device {
  readonly page: Page
  readonly context: BrowserContext
  readonly #url: string

  constructor(page: Page, context: BrowserContext, url: string) {
    this.page = page
    this.context = context
    this.#url = url
  }

  /** Enters an address of this server; unsaved content of the page is lost, as in a real browser. */
  async visit(path: string): Promise<void> {
    await this.page.goto(new URL(path, this.#url).href)
  }

  /** Waits until this text is visible, anywhere and in any case; half a minute at most. */
  async see(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).filter({ visible: true }).first().waitFor()
  }

  /** Waits until it is not visible anywhere. */
  async seeNoMore(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).filter({ visible: true }).first().waitFor({ state: 'hidden' })
  }

  /** Presses a button or follows a link by its accessible name. */
  async press(name: string | RegExp): Promise<void> {
    const button = this.page.getByRole('button', { name }).or(this.page.getByRole('link', { name }))
    await button.filter({ visible: true }).first().click()
  }

  async write(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label).first().fill(text)
  }

  /** Holds a button long enough to confirm. */
  async hold(name: string | RegExp, until: string | RegExp): Promise<void> {
    await this.#waitUntilAwake(name)
    await this.page.getByRole('button', { name }).first().hover()
    await this.page.mouse.down()
    await this.see(until)
    await this.page.mouse.up()
  }

  /** The same by taps: one tap, and another on the renamed button. */
  async tapTwice(name: string | RegExp, confirmName: string | RegExp): Promise<void> {
    await this.#waitUntilAwake(name)
    await this.press(name)
    await this.press(confirmName)
  }

  // Inert for a moment after it appears, so that it cannot be hit by accident.
  async #waitUntilAwake(name: string | RegExp): Promise<void> {
    await this.page.getByRole('button', { name }).first().waitFor()
    const awakeAt = (await this.page.evaluate(() => performance.now())) + 450
    await this.page.waitForFunction(at => performance.now() > at, awakeAt)
  }

  /** From the welcome screen to Home with a new account, whose key is saved later. Returns the account key. */
  async createAccount({ setupCode }: { setupCode?: string } = {}): Promise<string> {
    await this.visit(setupCode === undefined ? '/' : `/#setup=${setupCode}`)
    if (setupCode === undefined) await this.press('Create an account')
    await this.press('Create my account')
    await this.see('Write down your account key')
    const groups = this.page.locator('.key-groups code')
    await groups.nth(10).waitFor()
    const key = (await groups.allTextContents()).join('-')
    await this.press('Later, remind me tomorrow')
    await this.see('No sessions here yet')
    return key
  }

  /** Confirms the request of a terminal, from the link and the check code that it printed. */
  async linkTerminal(link: string, checkCode: string): Promise<void> {
    await this.page.goto(link)
    await this.write('Check code', checkCode)
    await this.hold('Hold to link', 'Linked')
  }

  /** Another tab of the same device. */
  async openTab(path: string): Promise<Device> {
    const tab = new Device(await this.context.newPage(), this.context, this.#url)
    await tab.visit(path)
    return tab
  }

  /** Presses a copy button, and returns the copied text. */
  async copied(name: string | RegExp): Promise<string> {
    await this.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await this.page.bringToFront()
    await this.press(name)
    await this.see('Copied')
    return this.page.evaluate(() => navigator.clipboard.readText())
  }

  async screenshot(path: string): Promise<void> {
    await this.page.screenshot({ path })
  }
}

async function openDevice(
  t: Test,
  browser: Browser,
  url: string,
  { width = 390, height = 844, colorScheme = 'light' }: DeviceLook
): Promise<Device> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.on('pageerror', error => t.error(error, 'the app met nothing unexpected'))
  page.on('console', message => {
    if (message.type() === 'error' && !isNetwork(message.text())) t.fail(`the app complained: ${message.text()}`)
  })
  return new Device(page, context, url)
}

// The browser reports every refusal and every lost connection, including those that the test causes.
function isNetwork(text: string): boolean {
  return /Failed to load resource|WebSocket connection|net::ERR_/.test(text)
}
