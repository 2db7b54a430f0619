import type { AccountFeed, AccountVault, LiveSocket, Outbox, PeerCipher, Rest, SpeakingCipher } from '../../../lib/client/index.ts'

/** What talking to the server takes: the ways to it, and the keys of what goes over them. */
export interface ServerLink {
  readonly vault: AccountVault
  readonly rest: Rest
  readonly socket: LiveSocket
  readonly feed: AccountFeed
  readonly outbox: Outbox
  /** Undefined as long as Home does not know the session, and when its key was made for another account. */
  cipherOf(session: string): (PeerCipher & SpeakingCipher) | undefined
  cipherOfMachine(machine: string): PeerCipher | undefined
}
