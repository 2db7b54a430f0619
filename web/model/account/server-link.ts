import type { AccountFeed, AccountVault, LiveSocket, Outbox, PeerCipher, Rest, SpeakingCipher } from '../../../lib/client/index.ts'

/** What requests to the server need: the connections, and the keys of their content. */
export interface ServerLink {
  readonly vault: AccountVault
  readonly rest: Rest
  readonly socket: LiveSocket
  readonly feed: AccountFeed
  readonly outbox: Outbox
  /** Undefined while Home does not know the session, and if its key was made for another account. */
  cipherOf(session: string): (PeerCipher & SpeakingCipher) | undefined
  cipherOfMachine(machine: string): PeerCipher | undefined
}
