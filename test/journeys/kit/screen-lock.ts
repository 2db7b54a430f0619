import type { Device } from '../../kit/browser.ts'

/** A device whose owner confirms the screen lock or not, as the test decides. The address needs a host name, not an IP address. */
export async function withScreenLock({ context, page }: Device): Promise<{ ownerIs(there: boolean): Promise<void> }> {
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  return { ownerIs: async there => void (await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: there })) }
}

/** Turns on the lock for risky decisions only. */
export async function lockWhatIsRisky(device: Device): Promise<void> {
  await device.visit('/settings/lock')
  await device.page.getByLabel('For risky decisions only').click()
  await device.page.waitForFunction(() => localStorage.getItem('afield-lock') !== null)
}
