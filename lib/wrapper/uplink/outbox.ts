import { Refused, Unreachable } from '../../client/link/refusals.ts'
import type { Rest } from '../../client/link/rest.ts'
import type { Journal } from '../../client/outbox/journal.ts'
import { type Outbox, type OutboxOptions, openOutbox } from '../../client/outbox/outbox.ts'
import { sendOver } from '../../client/outbox/send-messages.ts'
import { envelopeOf, giveUpDraft, type SpeakingCipher, sealDraft } from '../../client/sealed/messages.ts'
import type { MessageBody } from '../../protocol/sealed/messages.ts'
import type { OwnNumbers } from '../home/numbers-file.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import { isPlanStep } from './plan-step.ts'

export interface UplinkOutboxOptions extends Pick<OutboxOptions, 'onStored' | 'onSetAside' | 'onDropped' | 'onState' | 'limitBytes'> {
  rest: Rest
  folder: SessionFolder
  numbers: Pick<OwnNumbers, 'settled'>
  /** Resolves to the server's id of the session, once it is open there. */
  session(): Promise<string>
  /** Of one that the server does not know. */
  isOpenedAgain(session: string): Promise<boolean>
}

/** What a session has to say, on disk until the server has it. */
export function openUplinkOutbox({ rest, folder, numbers, session, isOpenedAgain, ...options }: UplinkOutboxOptions): Promise<Outbox> {
  const send = sendOver(rest)
  return openOutbox({
    ...options,
    gatherMs,
    journal: withNumbers(folder.openJournal(), numbers),
    // Drafts name the session by its tag: it may not have been opened on the server when they are written.
    send: async (_tag, messages, signal) => {
      let { id } = folder.notes
      try {
        id = await session()
        return await send(id, messages, signal)
      } catch (error) {
        const unknown = error instanceof Refused && error.status === 404 ? id : undefined
        if (unknown !== undefined && (await isOpenedAgain(unknown))) throw new Unreachable('strange-answer', { cause: error })
        throw error
      }
    }
  })
}

// A request costs as much as the sealing of five messages, and nobody reads faster: what grows is shown before.
const gatherMs = 100

/** On disk with its number: one that left could else be followed by another of the same number. */
function withNumbers(journal: Journal, numbers: Pick<OwnNumbers, 'settled'>): Journal {
  return {
    load: () => journal.load(),
    async append(drafts) {
      await Promise.all([journal.append(drafts), numbers.settled()])
    },
    remove: drafts => journal.remove(drafts),
    close: () => journal.close()
  }
}

/** `sealedHere` takes note of what the agent says, until the journal refuses it. */
export async function putBody(
  { outbox, cipher, tag, sealedHere }: { outbox: Outbox; cipher: SpeakingCipher; tag: string; sealedHere: Set<string> },
  body: MessageBody,
  localId?: string,
  how?: { beyondLimit?: boolean }
): Promise<void> {
  const draft = sealDraft(cipher, tag, body, localId)
  if (envelopeOf(body)?.role === 'agent') sealedHere.add(draft.content)
  try {
    await outbox.put(isPassing(body) ? { ...draft, isPassing: true } : draft, how)
  } catch (error) {
    sealedHere.delete(draft.content)
    // Under a local id of its own it is put again, with the number that it has.
    if (localId === undefined) giveUpDraft(cipher, draft)
    throw error
  }
}

/** Thoughts and plans: later ones and what is done take their place. */
function isPassing(body: MessageBody): boolean {
  const ev = envelopeOf(body)?.ev
  return ev !== undefined && (isPlanStep(ev) || (ev.t === 'text' && ev.thinking === true))
}
