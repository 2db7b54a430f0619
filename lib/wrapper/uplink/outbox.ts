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
import type { OwnNumbers } from '../home/replay.ts'
import type { SessionFolder } from '../home/session-folder.ts'

interface UplinkOutboxOptions extends Pick<OutboxOptions, 'onStored' | 'onSetAside' | 'onDropped' | 'onState' | 'limitBytes'> {
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

/** Messages that the server will never take: kept on this computer, and told of in the session. */
export interface RefusedMessages {
  /** What a person here has to know, since it cannot be told in the session either. */
  readonly trouble: string | undefined
  /** Resolves when it is kept, and on its way to be told. */
  take(draft: Draft, refusal: Refused): Promise<void>
  /** The server has these. */
  stored(messages: readonly { localId: string | null }[]): void
}

/**
 * One sentence at a time is on its way, and counts what is refused until the server has it. When it is refused itself, the server takes
 * nothing any more: then nothing more is said, or each sentence would bring the next.
 */
export function createRefusedMessages(
  folder: Pick<SessionFolder, 'setAside'>,
  put: (body: MessageBody, localId: string) => Promise<void>
): RefusedMessages {
  let sentence: string | undefined
  let trouble: string | undefined
  let untold: { draft: Draft; refusal: Refused }[] = []

  async function tell(): Promise<void> {
    const [first] = untold
    if (!first || sentence !== undefined || trouble !== undefined) return
    const told = untold
    untold = []
    // The same of the same message, in whichever process, so that the server stores it once [X1].
    sentence = idOfRow(`refused ${first.draft.localId}`)
    const what = told.length === 1 ? 'a message, which is kept' : `${told.length} messages, which are kept`
    await put(ownWords(`The server did not take ${what} on this computer: ${first.refusal.message}`), sentence).catch(() => {
      sentence = undefined
      untold = [...told, ...untold]
    })
  }

  return {
    get trouble() {
      return trouble
    },
    async take(draft, refusal) {
      if (draft.localId === sentence) {
        trouble = `The server takes no more messages of this session: ${refusal.message}. They are kept on this computer.`
        return
      }
      folder.setAside(draft, refusal.message)
      untold.push({ draft, refusal })
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

/** A plan as a step of the to-do tool of Claude Code, which existing apps show as a list; they drop whatever kind of event they do not know. */
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

/** Something about the session itself, from Afield and in no turn of the agent. */
export function ownWords(text: string): MessageBody {
  return newSessionMessage(newEnvelope({ t: 'service', text }, { role: 'agent', turn: newId() }))
}

/** The name under which the server stores what a row of an agent's own history says: always the same, and like those of `newId`. */
export function idOfRow(row: string): string {
  const digest = createHash('sha256').update(row).digest('hex')
  return `r${BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-23)}`
}
