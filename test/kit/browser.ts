import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { openChromium } from './chromium.ts'

/** How big the window is and how it is lit: a phone held upright unless told. */
export interface DeviceLook {
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
}

/** One browser for a whole test file; every device of it is a profile of its own. */
export async function openDevices(t: Test): Promise<{ open(t: Test, url: string, look?: DeviceLook): Promise<Device> }> {
  const browser = await openChromium(t)
  return { open: (t, url, look = {}) => openDevice(t, browser, url, look) }
}

/** A person's phone or desktop with the app of one server, as Chromium shows it. Anything it complains about fails the test. */
export class Device {
  readonly page: Page
  readonly context: BrowserContext
  readonly #url: string

  constructor(page: Page, context: BrowserContext, url: string) {
    this.page = page
    this.context = context
    this.#url = url
  }

  /** Types an address of this server; what is unsaved on the page is gone, as in life. */
  async visit(path: string): Promise<void> {
    await this.page.goto(new URL(path, this.#url).href)
  }

  /** Until this stands on the screen, anywhere and in any case; half a minute at most. */
  async see(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).filter({ visible: true }).first().waitFor()
  }

  /** Until it is nowhere to be seen. */
  async seeNoMore(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).filter({ visible: true }).first().waitFor({ state: 'hidden' })
  }

  /** Presses a button or follows a link by what it is called. */
  async press(name: string | RegExp): Promise<void> {
    const button = this.page.getByRole('button', { name }).or(this.page.getByRole('link', { name }))
    await button.filter({ visible: true }).first().click()
  }

  async write(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label).first().fill(text)
  }

  /** Holds a button for as long as it takes to confirm with it. */
  async hold(name: string | RegExp, until: string | RegExp): Promise<void> {
    await this.#waitUntilAwake(name)
    await this.page.getByRole('button', { name }).first().hover()
    await this.page.mouse.down()
    await this.see(until)
    await this.page.mouse.up()
  }

  /** The same for who does not hold: a tap, and another one on what the button is called then. */
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

  /** From the welcome to Home with a new account, whose key is left for later. Returns the account key. */
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

  /** Presses a button that copies, and tells what it copied. */
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

// The browser itself reports every refusal and every lost connection, also those that the test makes.
function isNetwork(text: string): boolean {
  return /Failed to load resource|WebSocket connection|net::ERR_/.test(text)
}
