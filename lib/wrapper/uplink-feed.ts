import { type Feed, openFeed } from '../client/feed.ts'
import { type OpenedMessage, openMessage } from '../client/messages.ts'
import type { Refused } from '../client/refusals.ts'
import type { Rest } from '../client/rest.ts'
import type { LiveSocket } from '../client/socket.ts'
import type { Cipher } from '../crypto/envelopes.ts'
import type { Receipts } from './receipts.ts'

export interface UplinkFeedOptions {
  rest: Rest
  socket: LiveSocket
  session: string
  cipher: Cipher
  receipts: Receipts | undefined
  onMessage(message: OpenedMessage, about: { seq: number; localId: string | null }): void
  onRefused(refusal: Refused): void
}

/** Every message of a session in order. */
export function openUplinkFeed(after: number, options: UplinkFeedOptions): Feed {
  const { rest, socket, session, cipher, receipts, onMessage, onRefused } = options
  return openFeed({
    rest,
    socket,
    session,
    after,
    onMessages: messages => {
      for (const message of messages) {
        const opened = openMessage(cipher, message)
        if (opened.ok && opened.body.role === 'user') receipts?.delivered(message.seq)
        onMessage(opened, { seq: message.seq, localId: message.localId })
      }
    },
    onState: state => {
      if (state.type === 'ended') onRefused(state.refusal)
    }
  })
}
