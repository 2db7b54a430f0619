import type { Fetch } from './rest.ts'

/**
 * Signs in with the account secret, over a fresh challenge each time; creates the account when the server allows it. `setupCode` is what
 * the first account of a server needs. Rejects with `Unreachable`, or `Refused`, whose `code` is one of `setup-code-required`,
 * `This server takes no new accounts.`, …: see `failures` of the wire.
 */
export declare function signIn(options: {
  server: string
  secret: Uint8Array
  fetch: Fetch
  setupCode?: string | undefined
  /** How the list of devices shows this one. */
  deviceName?: string | undefined
}): Promise<{ token: string }>
