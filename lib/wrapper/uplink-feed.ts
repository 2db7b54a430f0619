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
export interface UplinkFeed {
  take: Feed['take']
  /** The server was put back to where this is its last number: those above it will be given out again, to other messages. */
  goBack(last: number): void
  close(): void
}

export function openUplinkFeed(after: number, options: UplinkFeedOptions): UplinkFeed {
  let feed = openFrom(after, options)
  return {
    take: messages => feed.take(messages),
    goBack(last) {
      if ((feed.cursor ?? 0) <= last) return
      feed.close()
      feed = openFrom(last, options)
    },
    close: () => feed.close()
  }
}

function openFrom(after: number, { rest, socket, session, cipher, receipts, onMessage, onRefused }: UplinkFeedOptions): Feed {
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
