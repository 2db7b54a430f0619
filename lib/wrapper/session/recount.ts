import { isAbsolute } from 'node:path'
import { newUserText } from '../../client/sealed/messages.ts'
import type { MessageBody } from '../../protocol/sealed/messages.ts'
import type { AgentEvent, Untold } from '../agents/agent.ts'
import { readSince, readTurn } from '../agents/claude/transcript/untold.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { idOfRow } from '../uplink/outbox.ts'
import { createNarrator } from './narrator.ts'
import { withoutReason } from './reasons.ts'

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
export async function retell(notes: SessionNotes, put: (body: MessageBody, localId?: string) => Promise<void>): Promise<string[]> {
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
 * Tells it, and ends the turn that was left open. Some of it may have been told after all: it carries the same names, so the
 * server stores it once [X1].
 */
export async function recount(
  { events, upTo }: Untold,
  folder: SessionFolder,
  put: (body: MessageBody, localId?: string) => Promise<void>
): Promise<void> {
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
