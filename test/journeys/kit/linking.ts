import type { Device } from '../../kit/browser.ts'

/** Reads what a device shows that wants to be let into an account, and opens its link on one that has it. Resolves to the check code. */
export async function bringLink(from: Device, to: Device): Promise<string> {
  await from.see('Waiting for your other device')
  const link = await from.copied('Copy link')
  const checkCode = (await from.page.locator('.check-code b').textContent()) ?? ''
  await to.visit('/scan')
  await to.write('Paste a link', link)
  await to.press('Continue')
  return checkCode
}
