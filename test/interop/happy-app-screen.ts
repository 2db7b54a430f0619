import type { Locator, Page } from 'playwright-core'

/** What Happy's app calls things, in English; where versions differ, all of it. */
export const names = {
  save: /^save$/i,
  goOn: /^continue$/i,
  createAccount: /^create account$/i,
  reveal: /^tap to reveal$/i,
  enterUrl: /^enter url manually$/i,
  authenticate: /^authenticate$/i,
  accept: /^accept connection$/i,
  restore: /^restore account$/i,
  allow: /^(yes|allow)$/i,
  submit: /^submit( answer)?$/i,
  archive: /^(archive( session)?|stop & archive)$/i,
  cancel: /^cancel$/i,
  send: /^send( message)?$/i
}

/** Some of its buttons are texts that can be pressed, without a role; a dialog comes last in the page. */
export function control(page: Page, name: RegExp): Locator {
  return page.getByRole('button', { name }).or(page.getByText(name)).filter({ visible: true }).last()
}

export async function press(page: Page, name: RegExp): Promise<void> {
  await control(page, name).click()
}

/** Presses, and once more where the app asks whether it is meant, until `done` resolves. */
export async function pressForSure(page: Page, name: RegExp, done: Promise<unknown>): Promise<void> {
  await press(page, name)
  const asked = control(page, names.cancel).waitFor()
  await Promise.race([done, asked.then(() => press(page, name))])
  await done
}

/** The only field of a screen, or the one to write messages in, which comes after all others. */
export function field(page: Page): Locator {
  return page.getByRole('textbox').filter({ visible: true }).last()
}

export async function say(page: Page, text: string): Promise<void> {
  const box = field(page)
  await box.fill(text)
  await box.press('Enter')
  // Where Enter only begins a new line. A message that left may have taken the field with it.
  const now = await box.inputValue({ timeout: 500 }).catch(() => '')
  if (now.includes('\n')) await press(page, names.send)
}

/** What the agent said or the app shows, and not a message of the person that has these words in it. */
export async function see(page: Page, text: string): Promise<void> {
  await page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor()
}

/** As from the clipboard: the app listens for that on the whole page while a field has the focus. Resolves once it shows the picture. */
export async function pastePicture(page: Page, png: string): Promise<void> {
  const shown = page.locator('img[src^="blob:"], img[src^="data:image/"]')
  const before = await shown.count()
  await field(page).focus()
  // As text, since what runs in a page is not checked here.
  await page.evaluate(`(${paste})(${JSON.stringify(png)})`)
  await shown.nth(before).waitFor({ state: 'attached' })
}

const paste = `base64 => {
  const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
  const clipboardData = new DataTransfer()
  clipboardData.items.add(new File([bytes], 'pear.png', { type: 'image/png' }))
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
}`
