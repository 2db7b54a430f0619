import { isAbsolute } from 'node:path'
import { newUserText } from '../../client/sealed/messages.ts'
import type { MessageBody } from '../../protocol/sealed/messages.ts'
import type { Agent, AgentEvent, UnsentHistory } from '../agents/agent.ts'
import { readSince, readTurn } from '../agents/claude/transcript/history.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { idOfRow } from '../uplink/outbox.ts'
import { createNarrator } from './output/narrator.ts'
import { type Prompt, type Queue, withoutReason } from './queue.ts'

type Put = (body: MessageBody, localId?: string) => Promise<void>

/**
 * How far Afield has read the agent's own history: which prompt is being handed over, which turn runs, and up to where the history was sent.
 * All of it is stored on disk, so that the next process neither sends nor hands over anything twice, and omits nothing.
 */
export interface Cursor {
  /** Whether a prompt counts as read only once it is in the agent's history. */
  readonly writesDown: boolean
  /** Called before the agent is given a prompt, as `text`, in this turn: after a crash it must be known that the agent may have it. */
  begin(prompt: Prompt, text: string, turn: string): void
  /** The prompt being handed over is in the agent's history; true if it was still waiting. Stored with the next output sent. */
  confirm(): boolean
  /** A turn that began at the agent's own terminal. Stored with the next output sent. */
  beginLater(turn: string): void
  /** The agent's history was sent up to here. */
  noteSent(upTo: SessionNotes['sentUpTo']): void
  /** The phone drives: output is sent as it comes, not from the agent's history. */
  toPhone(): void
  /** The turn is over. `isDropped`: the agent was stopped before its prompt was in the history, and must never get it. */
  end(how: { isDropped: boolean }): void
  /** Sends what an ended agent recorded of the turn but did not report. Resolves to its texts. */
  resendTurn(): Promise<string[]>
  /** The server renumbers the messages. */
  forgetNumbers(): void
}

export interface CursorDeps {
  agent: Pick<Agent, 'handover' | 'writesAt' | 'writesDown'>
  folder: Pick<SessionFolder, 'notes' | 'note'>
  queue: Pick<Queue, 'confirm' | 'drop' | 'isAhead'>
  put: Put
}

const longestPromptNoted = 200

export function createCursor({ agent, folder, queue, put }: CursorDeps): Cursor {
  /** For output read from the agent's history: stored together with the position up to which it was sent. */
  let pendingNotes: Partial<SessionNotes> = {}
  const note = (changes: Partial<SessionNotes>) => {
    folder.note({ ...pendingNotes, ...changes })
    pendingNotes = {}
  }
  // At its own terminal an agent may record the prompt before it reports it.
  const writesDown = () => agent.writesDown ?? agent.handover?.by === 'terminal'
  const pendingPrompt = () => {
    const { seq, localId = null, edits } = folder.notes.pendingPrompt ?? {}
    return { seq: seq ?? undefined, localId, edits: edits?.map(seq => ({ seq })) }
  }

  return {
    get writesDown() {
      return writesDown()
    },
    begin(prompt, text, turn) {
      const { seq = null, localId } = prompt
      const turnAt = agent.writesAt?.() ?? null
      const edits = prompt.edits?.map(edit => edit.seq)
      const pending = { seq, localId, text: text.slice(0, longestPromptNoted), isAhead: queue.isAhead(prompt), ...(edits && { edits }) }
      const mayHaveIt = agent.handover || turnAt || writesDown()
      folder.note({ turn, turnAt, ...(mayHaveIt && { pendingPrompt: pending }) })
    },
    confirm() {
      const { changes, isLate } = queue.confirm(pendingPrompt(), { ...folder.notes, ...pendingNotes })
      pendingNotes = { ...pendingNotes, pendingPrompt: null, ...changes }
      return isLate
    },
    beginLater(turn) {
      pendingNotes = { ...pendingNotes, turn }
    },
    noteSent: sentUpTo => note({ sentUpTo }),
    toPhone: () => folder.note({ sentUpTo: null }),
    end({ isDropped }) {
      const prompt = pendingPrompt()
      if (isDropped && prompt.seq !== undefined) queue.drop(prompt)
      // The next process hands over a typed prompt again if none of it is in the history.
      note({ turn: null, turnAt: null, ...((isDropped || !writesDown()) && { pendingPrompt: null }) })
    },
    resendTurn: () => resendTurn(folder.notes, put),
    forgetNumbers() {
      const { cursor: _, settled: __, ...others } = pendingNotes
      pendingNotes = others
    }
  }
}

/** Output in the agent's history that its process did not send. */
export function readUnsent({
  sentUpTo,
  pendingPrompt,
  turn,
  turnAt
}: Pick<SessionNotes, 'sentUpTo' | 'pendingPrompt' | 'turn' | 'turnAt'>): UnsentHistory {
  if (!sentUpTo && turn !== null && turnAt) return { events: readTurn(turnAt, pendingPrompt?.text), upTo: undefined }
  // An agent that does not write to a file reports it when it is started again.
  return sentUpTo && isAbsolute(sentUpTo.file) ? readSince(sentUpTo, pendingPrompt?.text) : { events: [], upTo: undefined }
}

/**
 * Sends the agent's history of the running turn, without its end. Output already sent has the same ids, so the server
 * stores it once [X1]. Resolves to the texts.
 */
async function resendTurn(notes: SessionNotes, put: Put): Promise<string[]> {
  const { turn, turnAt, sentUpTo } = notes
  if (sentUpTo || turn === null || !turnAt) return []
  const narrator = createNarrator({ put, showPartial: () => true })
  await narrator.beginTurn({ name: turn })
  const texts: string[] = []
  for (const event of readUnsent(notes).events) {
    if (event.type === 'text') texts.push(event.text)
    if (event.type === 'text' || event.type === 'step-started' || event.type === 'step-ended' || event.type === 'plan')
      await narrator.tell(event)
  }
  await narrator.settle()
  return texts
}

/**
 * Sends what an earlier process did not, and ends the turn that it left open. Output already sent has the same ids, so the
 * server stores it once [X1].
 */
export async function sendUnsent({ events, upTo }: UnsentHistory, folder: SessionFolder, put: Put): Promise<void> {
  const narrator = createNarrator({ put, showPartial: () => true })
  let { turn, cursor, settled = [] } = folder.notes
  let taken: Pick<SessionNotes, 'reasons'> = {}
  const { id, pendingPrompt, metadata, sentUpTo } = folder.notes
  // The process may have ended before it sent the beginning.
  if (turn !== null) await narrator.beginTurn({ name: turn })

  const takePrompt = async ({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>) => {
    if (isOurs) {
      taken = withoutReason(folder.notes, pendingPrompt?.localId)
      settled = [...settled, ...(pendingPrompt?.edits ?? [])]
    }
    if (isOurs && pendingPrompt?.isAhead && pendingPrompt.seq !== null) settled = [...settled, pendingPrompt.seq]
    else if (isOurs) cursor = Math.max(cursor, pendingPrompt?.seq ?? 0)
    else await put(newUserText(text, { sentFrom: 'cli' }), row === undefined ? undefined : idOfRow(row))
    turn ??= await narrator.beginTurn({ row })
  }
  for (const event of events) {
    switch (event.type) {
      case 'prompted':
        await takePrompt(event)
        break
      case 'turn-ended':
        if (turn !== null) await narrator.tell(event)
        turn = null
        break
      case 'text':
      case 'step-started':
      case 'step-ended':
      case 'subagent-started':
      case 'subagent-stopped':
      case 'plan':
        await narrator.tell(event)
        break
    }
  }
  await narrator.settle()
  if (turn !== null) {
    await narrator.say(`Afield on ${metadata.host} ended in the middle of this turn.`)
    await narrator.tell({ type: 'turn-ended', reason: 'cancelled' })
  }
  // Whether the agent has it is known once its history was read.
  const isRead = !sentUpTo || upTo !== undefined
  // The server may have renumbered the messages meanwhile.
  const numbers = id === undefined || id === folder.notes.id ? { cursor, settled } : {}
  folder.note({ turn: null, ...numbers, ...taken, ...(isRead && { pendingPrompt: null }), ...(upTo && { sentUpTo: upTo }) })
}
