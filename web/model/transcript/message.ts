import { eventsOf } from '../../../lib/client/happy/messages.ts'
import type { MessageBody, MessageMeta } from '../../../lib/protocol/sealed/messages.ts'
import type { SealedBy } from '../../../lib/protocol/sealed/sealed-for.ts'
import { type TranscriptEvent, transcriptEventsOf } from './fold/events.ts'
import type { Mine } from './items.ts'

/** A message as passed in by the session state. `body` is undefined if it could not be decrypted, `at` is ms since 1970. */
export interface KnownMessage {
  readonly seq: number
  readonly localId: string | null
  readonly at: number
  readonly body: MessageBody | undefined
  /** Why there is no body: no key on this device fits, or this app does not know the format. */
  readonly closed?: 'unreadable' | 'unknown-shape'
  /** The sender, if only that could be read. */
  readonly by?: SealedBy | undefined
}

/** The events of a message, in order. */
export function transcriptEvents(message: KnownMessage): TranscriptEvent[] {
  const { body } = message
  if (body === undefined) return [{ type: 'skipped', why: message.closed ?? 'unreadable' }]
  switch (body.role) {
    case 'user': {
      const text = body.meta?.displayText ?? body.content.text
      return [{ type: 'mine', text, from: fromOf(body.meta), isSteer: body.meta?.steer === true, replaces: body.meta?.replaces }]
    }
    case 'session':
    case 'agent':
      return eventsOf(body).flatMap(transcriptEventsOf)
  }
}

function fromOf(meta: MessageMeta | undefined): Mine['from'] {
  if (meta?.sentFrom !== 'cli') return 'app'
  return meta.isReason ? 'decision' : 'terminal'
}
