import { createHash } from 'node:crypto'
import { Refused, Unreachable } from '../../client/link/refusals.ts'
import type { Rest } from '../../client/link/rest.ts'
import type { Journal } from '../../client/outbox/journal.ts'
import { type Outbox, type OutboxOptions, openOutbox } from '../../client/outbox/outbox.ts'
import { sendOver } from '../../client/outbox/send-messages.ts'
import {
  type Draft,
  envelopeOf,
  giveUpDraft,
  newEnvelope,
  newId,
  newSessionMessage,
  type SpeakingCipher,
  sealDraft
} from '../../client/sealed/messages.ts'
import type { MessageBody, PlanEntry, SessionEvent } from '../../protocol/sealed/messages.ts'
import type { OwnNumbers } from '../home/replay-protection.ts'
import type { SessionFolder } from '../home/session-folder.ts'

interface UplinkOutboxOptions extends Pick<OutboxOptions, 'onStored' | 'onSetAside' | 'onDropped' | 'onState' | 'limitBytes'> {
  rest: Rest
  folder: SessionFolder
  numbers: Pick<OwnNumbers, 'settled'>
  /** Resolves to the server's id of the session, once opened. */
  session(): Promise<string>
  /** For a session that the server does not know. */
  isOpenedAgain(session: string): Promise<boolean>
}

/** Outgoing messages of a session, on disk until the server has them. */
export function openUplinkOutbox({ rest, folder, numbers, session, isOpenedAgain, ...options }: UplinkOutboxOptions): Promise<Outbox> {
  const send = sendOver(rest)
  return openOutbox({
    ...options,
    gatherMs,
    journal: withNumbers(folder.openJournal(), numbers),
    // Drafts refer to the session by its tag: it may not exist on the server when they are written.
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

// A request costs as much as sealing five messages, and no one reads faster; growing text is shown separately.
const gatherMs = 100

/** Stored with its number; otherwise a sent message could be followed by another with the same number. */
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

/** `sealedHere` records the agent's messages, until the journal rejects them. */
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
    // With its own local id it is queued again, keeping its number.
    if (localId === undefined) giveUpDraft(cipher, draft)
    throw error
  }
}

/** Thoughts and plans: replaced by later ones and by results. */
function isPassing(body: MessageBody): boolean {
  const ev = envelopeOf(body)?.ev
  return ev !== undefined && (isPlanStep(ev) || (ev.t === 'text' && ev.thinking === true))
}

/** Messages that the server permanently rejected: kept on this computer, and reported in the session. */
export interface RefusedMessages {
  /** A notice for the person here, if it cannot be sent in the session either. */
  readonly trouble: string | undefined
  /** Resolves when it is stored, with a report queued. */
  take(draft: Draft, refusal: Refused): Promise<void>
  /** The server has these. */
  stored(messages: readonly { localId: string | null }[]): void
}

/**
 * One report at a time is in progress, and counts rejections until the server has it. If the report itself is rejected, the server
 * accepts nothing any more; then no more reports are sent, or each would cause the next.
 */
export function createRefusedMessages(
  folder: Pick<SessionFolder, 'setAside'>,
  put: (body: MessageBody, localId: string) => Promise<void>
): RefusedMessages {
  let sentence: string | undefined
  let trouble: string | undefined
  let unreported: { draft: Draft; refusal: Refused }[] = []

  async function tell(): Promise<void> {
    const [first] = unreported
    if (!first || sentence !== undefined || trouble !== undefined) return
    const reported = unreported
    unreported = []
    // The same id for the same message in any process, so that the server stores it once [X1].
    sentence = idOfRow(`refused ${first.draft.localId}`)
    const what = reported.length === 1 ? 'a message, which is kept' : `${reported.length} messages, which are kept`
    await put(ownWords(`The server rejected ${what} on this computer: ${first.refusal.message}`), sentence).catch(() => {
      sentence = undefined
      unreported = [...reported, ...unreported]
    })
  }

  return {
    get trouble() {
      return trouble
    },
    async take(draft, refusal) {
      if (draft.localId === sentence) {
        trouble = `The server accepts no more messages for this session: ${refusal.message}. They are kept on this computer.`
        return
      }
      folder.setAside(draft, refusal.message)
      unreported.push({ draft, refusal })
      await tell()
    },
    stored(messages) {
      if (!messages.some(({ localId }) => localId === sentence)) return
      sentence = undefined
      void tell()
    }
  }
}

const prefix = 'plan-'

/** A plan as a step of Claude Code's to-do tool, which existing apps show as a list; they drop unknown events. */
export function planStep(name: string, entries: readonly PlanEntry[]): { start: SessionEvent; end: SessionEvent } {
  const call = `${prefix}${name}`
  const todos = entries.map(entry => ({ ...entry }))
  const title = 'Plan'
  return {
    start: { t: 'tool-call-start', call, name: 'TodoWrite', title, description: title, args: { todos }, kind: 'plan' },
    end: { t: 'tool-call-end', call, status: 'completed' }
  }
}

function isPlanStep(event: SessionEvent): boolean {
  return (event.t === 'tool-call-start' || event.t === 'tool-call-end') && event.call.startsWith(prefix)
}

/** A message about the session itself, from Afield and outside the agent's turns. */
export function ownWords(text: string): MessageBody {
  return newSessionMessage(newEnvelope({ t: 'service', text }, { role: 'agent', turn: newId() }))
}

/** The id under which the server stores a row of an agent's own history: deterministic, in the format of `newId`. */
export function idOfRow(row: string): string {
  const digest = createHash('sha256').update(row).digest('hex')
  return `r${BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-23)}`
}
