import { type Feed, openFeed } from '../../client/feed/feed.ts'
import type { Refused } from '../../client/link/refusals.ts'
import type { Rest } from '../../client/link/rest.ts'
import type { LiveSocket } from '../../client/link/socket.ts'
import { envelopeOf, type OpenedMessage, openMessage, writerOf } from '../../client/sealed/messages.ts'
import type { Cipher } from '../../crypto/envelopes.ts'
import type { MessageRecord } from '../../protocol/wire/records.ts'
import type { HeardMessages } from '../home/heard-messages.ts'
import type { OwnNumbers } from '../home/numbers-file.ts'
import type { Receipts } from './receipts.ts'

export interface UplinkFeedOptions {
  rest: Rest
  socket: LiveSocket
  session: string
  cipher: Cipher
  receipts: Receipts | undefined
  numbers: Pick<OwnNumbers, 'isOwn' | 'noteStored'>
  heard: HeardMessages
  /** What the agent said is not opened again by the process that sealed it: there is no news in it. */
  isOwn(message: MessageRecord): boolean
  onOwn(about: { seq: number }): void
  onMessage(message: OpenedMessage, about: { seq: number; localId: string | null }): void
  /** Somebody on the way brought it here: it is not carried out. */
  onLeftOut(about: { seq: number; localId: string | null }): void
  onRefused(refusal: Refused): void
}

/** Every message of a session in order. */
export function openUplinkFeed(after: number, options: UplinkFeedOptions): Feed {
  const { rest, socket, session, cipher, receipts, numbers, heard, isOwn, onOwn, onMessage, onLeftOut, onRefused } = options
  return openFeed({
    rest,
    socket,
    session,
    after,
    onMessages: messages => {
      for (const message of messages) {
        if (isOwn(message)) {
          onOwn({ seq: message.seq })
          continue
        }
        const opened = openMessage(cipher, message)
        const by = writerOf(opened)
        if (by && numbers.isOwn(by.sender)) numbers.noteStored(by)
        else if (isOfPeople(opened) && !heard.take({ seq: message.seq, content: message.content.c, by })) {
          onLeftOut({ seq: message.seq, localId: message.localId })
          continue
        }
        if (opened.ok && opened.body.role === 'user') receipts?.delivered(message.seq)
        onMessage(opened, { seq: message.seq, localId: message.localId })
      }
    },
    onState: state => {
      if (state.type === 'ended') onRefused(state.refusal)
    }
  })
}

/** Of an unknown shape with a writer: it is of a newer app, and takes a number. */
function isOfPeople(message: OpenedMessage): boolean {
  if (!message.ok) return message.by !== undefined
  const { body } = message
  return body.role === 'user' ? body.meta?.sentFrom !== 'cli' : envelopeOf(body)?.role === 'user'
}
