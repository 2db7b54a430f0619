import { isAbsolute } from 'node:path'
import { newUserText } from '../../client/sealed/messages.ts'
import type { MessageBody } from '../../protocol/sealed/messages.ts'
import type { Agent, AgentEvent, Untold } from '../agents/agent.ts'
import { readSince, readTurn } from '../agents/claude/transcript/history.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { idOfRow } from '../uplink/outbox.ts'
import { createNarrator } from './narrator.ts'
import { type Prompt, type Queue, withoutReason } from './queue.ts'

type Put = (body: MessageBody, localId?: string) => Promise<void>

/**
 * How far Afield is in what the agent itself writes down: which prompt was on its way, which turn runs, and up to where it was told.
 * All of it is noted on disk, so that the next process neither tells nor hands over anything twice, and leaves nothing out.
 */
export interface Cursor {
  /** What the agent is given is with it once it has written it down, and not before. */
  readonly writesDown: boolean
  /** Before the agent is given a prompt, as `text`, in this turn: after a crash it has to be known that it may have it. */
  begin(prompt: Prompt, text: string, turn: string): void
  /** The agent has written down the prompt that was on its way; true when that still waited. Noted with what is told next. */
  confirm(): boolean
  /** A turn that began at the agent's own terminal. Noted with what is told next. */
  beginLater(turn: string): void
  /** What the agent wrote down was told up to here. */
  told(upTo: SessionNotes['toldUpTo']): void
  /** The phone drives: it is told as it comes, and not from what the agent writes down. */
  toPhone(): void
  /** The turn is over. `isDropped`: the agent was stopped before it had written down its prompt, and shall never have it. */
  end(how: { isDropped: boolean }): void
  /** Tells what an agent that is gone wrote down of the turn and did not say. Resolves to its texts. */
  retell(): Promise<string[]>
  /** The server numbers the messages anew. */
  forgetNumbers(): void
}

export interface CursorDeps {
  agent: Pick<Agent, 'handover' | 'writesAt' | 'writesDown'>
  folder: Pick<SessionFolder, 'notes' | 'note'>
  queue: Pick<Queue, 'confirm' | 'drop' | 'isAhead'>
  put: Put
}

const mostHanded = 200

export function createCursor({ agent, folder, queue, put }: CursorDeps): Cursor {
  /** Read from what the agent wrote down: noted in one step with the place up to which that was told. */
  let unnoted: Partial<SessionNotes> = {}
  const note = (changes: Partial<SessionNotes>) => {
    folder.note({ ...unnoted, ...changes })
    unnoted = {}
  }
  // At its own terminal an agent may keep the prompt before it says so.
  const writesDown = () => agent.writesDown ?? agent.handover?.by === 'terminal'
  const handed = () => {
    const { seq, localId = null, edits } = folder.notes.handing ?? {}
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
      const handing = { seq, localId, text: text.slice(0, mostHanded), isAhead: queue.isAhead(prompt), ...(edits && { edits }) }
      const mayHaveIt = agent.handover || turnAt || writesDown()
      folder.note({ turn, turnAt, ...(mayHaveIt && { handing }) })
    },
    confirm() {
      const { changes, isLate } = queue.confirm(handed(), { ...folder.notes, ...unnoted })
      unnoted = { ...unnoted, handing: null, ...changes }
      return isLate
    },
    beginLater(turn) {
      unnoted = { ...unnoted, turn }
    },
    told: toldUpTo => note({ toldUpTo }),
    toPhone: () => folder.note({ toldUpTo: null }),
    end({ isDropped }) {
      const prompt = handed()
      if (isDropped && prompt.seq !== undefined) queue.drop(prompt)
      // A prompt that was typed, and of which nothing was written down, is handed over again by the next process.
      note({ turn: null, turnAt: null, ...((isDropped || !writesDown()) && { handing: null }) })
    },
    retell: () => retell(folder.notes, put),
    forgetNumbers() {
      const { cursor: _, settled: __, ...others } = unnoted
      unnoted = others
    }
  }
}

/** What an agent wrote down by itself, and the process that should have told it did not. */
export function readUntold({ toldUpTo, handing, turn, turnAt }: Pick<SessionNotes, 'toldUpTo' | 'handing' | 'turn' | 'turnAt'>): Untold {
  if (!toldUpTo && turn !== null && turnAt) return { events: readTurn(turnAt, handing?.text), upTo: undefined }
  // An agent that does not write into a file tells it when it is started again.
  return toldUpTo && isAbsolute(toldUpTo.file) ? readSince(toldUpTo, handing?.text) : { events: [], upTo: undefined }
}

/**
 * Tells what the agent wrote down of the turn that runs, and no end of it. What was told before carries the same names, so the server
 * stores it once [X1]. Resolves to the texts.
 */
async function retell(notes: SessionNotes, put: Put): Promise<string[]> {
  const { turn, turnAt, toldUpTo } = notes
  if (toldUpTo || turn === null || !turnAt) return []
  const narrator = createNarrator({ put, showPartial: () => true })
  await narrator.beginTurn({ name: turn })
  const texts: string[] = []
  for (const event of readUntold(notes).events) {
    if (event.type === 'text') texts.push(event.text)
    if (event.type === 'text' || event.type === 'step-started' || event.type === 'step-ended' || event.type === 'plan')
      await narrator.tell(event)
  }
  await narrator.settle()
  return texts
}

/**
 * Tells what an earlier process did not, and ends the turn that was left open. Some of it may have been told after all: it carries the same names, so the
 * server stores it once [X1].
 */
export async function recount({ events, upTo }: Untold, folder: SessionFolder, put: Put): Promise<void> {
  const narrator = createNarrator({ put, showPartial: () => true })
  let { turn, cursor, settled = [] } = folder.notes
  let taken: Pick<SessionNotes, 'reasons'> = {}
  const { id, handing, metadata, toldUpTo } = folder.notes
  // It may have ended before it told the beginning.
  if (turn !== null) await narrator.beginTurn({ name: turn })

  const takePrompt = async ({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>) => {
    if (isOurs) {
      taken = withoutReason(folder.notes, handing?.localId)
      settled = [...settled, ...(handing?.edits ?? [])]
    }
    if (isOurs && handing?.isAhead && handing.seq !== null) settled = [...settled, handing.seq]
    else if (isOurs) cursor = Math.max(cursor, handing?.seq ?? 0)
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
  // Whether the agent has it is seen once what it wrote down was read.
  const isRead = !toldUpTo || upTo !== undefined
  // The server may have begun to number the messages anew meanwhile.
  const numbers = id === undefined || id === folder.notes.id ? { cursor, settled } : {}
  folder.note({ turn: null, ...numbers, ...taken, ...(isRead && { handing: null }), ...(upTo && { toldUpTo: upTo }) })
}
