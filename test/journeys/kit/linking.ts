import type { Device } from '../../kit/browser.ts'

/** Reads the link shown by a device that wants to join an account, and opens it on one that has the account. Resolves to the check code. */
export async function bringLink(from: Device, to: Device): Promise<string> {
  await from.see('Waiting for your other device')
  const link = await from.copied('Copy link')
  const checkCode = (await from.page.locator('.check-code b').textContent()) ?? ''
  await to.visit('/scan')
  await to.write('Paste a link', link)
  await to.press('Continue')
  return checkCode
}
