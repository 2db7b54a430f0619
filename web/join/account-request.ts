import { cryptoReady, startDeviceLinking, startLinking } from '../../lib/client/index.ts'
import { base64Of } from '../core/base64.ts'
import { adoptAccount, guessDeviceName } from '../model/account/sign-in.ts'

type Asker = Parameters<typeof startDeviceLinking>[0]

/** A request to receive an account, shown as a code to a device that has it. Without a check code: in the format of existing apps. */
export interface AccountRequest {
  readonly link: string
  readonly checkCode: string | undefined
  /** Resolves once it is answered; if linked, the account is stored on this device. */
  wait(signal: AbortSignal): Promise<'linked' | 'expired' | 'unreadable' | 'has-account'>
}

/** Requests an account. `forHappy`: from an app that knows only the older protocol, which is also used if the server knows no other. */
export async function askForAccount(given: { forHappy: boolean; onTrouble(hasTrouble: boolean): void }): Promise<AccountRequest> {
  await cryptoReady()
  const deviceName = guessDeviceName()
  const asker: Asker = {
    server: location.origin,
    deviceName,
    fetch: (url, init) => fetch(url, init),
    onTrouble: trouble => given.onTrouble(trouble !== undefined)
  }
  const linking = given.forHappy ? 'unsupported' : await startLinking('device', asker)
  if (linking === 'unsupported') return askInFirstWay(asker, deviceName)
  return {
    link: linking.link,
    checkCode: linking.checkCode,
    async wait(signal) {
      const end = await linking.wait(signal)
      if (end.type !== 'paired') return end.type
      const { answer, signedIn } = end
      // A device needs the account key, not a key to write sessions with.
      if (answer.version !== 1) return 'unreadable'
      return (await adoptAccount({ secret: base64Of(answer.accountSecret), ...signedIn, deviceName })) ? 'linked' : 'has-account'
    }
  }
}

function askInFirstWay(asker: Asker, deviceName: string): AccountRequest {
  const linking = startDeviceLinking(asker)
  return {
    link: linking.link,
    checkCode: undefined,
    async wait(signal) {
      const end = await linking.wait(signal)
      if (end.type !== 'paired') return end.type
      return (await adoptAccount({ secret: base64Of(end.keys.secret), token: end.token, deviceName })) ? 'linked' : 'has-account'
    }
  }
}
