import { newEnvelope, newSessionMessage } from '../../client/sealed/messages.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { idOfRow } from '../uplink/outbox.ts'
import type { SessionParts } from './parts.ts'
import type { Prompt, Prompts } from './prompts.ts'
import { withoutReason } from './reasons.ts'

/** A message of a person, or of this terminal, for which there is no seq. */
export interface Settled extends Pick<Prompt, 'localId'> {
  readonly seq?: number | undefined
  readonly edits?: readonly { seq: number }[] | undefined
  readonly text?: string
}

/** Which messages the agent has, or never shall: noted for the next process of the session, and told to devices. */
export interface Settling {
  /** What would be noted of it. */
  of(notes: SessionNotes, message: Settled): Partial<SessionNotes>
  /** The agent never shall have it. */
  drop(message: Settled): void
  /** The agent has it. */
  read(message: Settled): void
  /** It is noted elsewhere that the agent has it. */
  tellRead(message: Settled, cursor: number): void
  /** Whether the agent was handed it in these words. */
  hasSaid(localId: string, text: string): boolean
  /** It was to be withdrawn, and does not wait: told when the agent has it, also if it gets it only now. */
  tellIfRead(localId: string): void
  /** It was to replace another that does not wait any more. */
  tellApart(localId: string): void
}

export function createSettling({ folder, keeping, uplink }: SettlingDeps, prompts: Pick<Prompts, 'settled'>): Settling {
  /** By their local ids, those that the agent was handed by this process, with their words where those are known whole. */
  const handed = new Map<string, string | undefined>()
  const withdrawn = new Set<string>()

  const of = (notes: SessionNotes, { seq, localId, edits = [] }: Settled): Partial<SessionNotes> => {
    if (seq === undefined) return withoutReason(notes, localId)
    return prompts.settled(notes, seq, ...edits.map(edit => edit.seq))
  }
  // Under a name of its own, so that it is told once.
  const tell = (t: 'read' | 'apart', localId: string): void => {
    void keeping.keep(newSessionMessage(newEnvelope({ t, localId }, { role: 'agent' })), idOfRow(`${localId} ${t}`))
  }
  /** How far messages came is one number: of one that was read before earlier ones it is told beside that. */
  const tellRead = ({ seq, localId, text }: Settled, cursor: number): void => {
    if (seq === undefined) return
    uplink()?.tellRead(cursor)
    if (localId === null) return
    handed.set(localId, text)
    if (seq > cursor || withdrawn.has(localId)) tell('read', localId)
  }
  return {
    of,
    drop: message => folder.note(of(folder.notes, message)),
    read(message) {
      folder.note(of(folder.notes, message))
      tellRead(message, folder.notes.cursor)
    },
    tellRead,
    hasSaid: (localId, text) => handed.get(localId) === text,
    tellIfRead(localId) {
      withdrawn.add(localId)
      if (handed.has(localId)) tell('read', localId)
    },
    tellApart: localId => tell('apart', localId)
  }
}

export interface SettlingDeps extends Pick<SessionParts, 'folder' | 'keeping'> {
  uplink(): SessionParts['uplink']
}
