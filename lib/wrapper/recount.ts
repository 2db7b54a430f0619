import { userText } from '../client/messages.ts'
import type { MessageBody } from '../protocol/sealed/messages.ts'
import type { AgentEvent, ToldUpTo } from './agents/agent.ts'
import { readSince } from './agents/claude/untold.ts'
import { createNarrator, idOfRow } from './narrator.ts'
import type { SessionFolder, SessionNotes } from './session-folder.ts'

/** What an agent wrote down by itself, and the process that should have told it did not. */
export interface Untold {
  events: readonly AgentEvent[]
  upTo: ToldUpTo | undefined
}

export function readUntold({ toldUpTo, handing }: Pick<SessionNotes, 'toldUpTo' | 'handing'>): Untold {
  return toldUpTo ? readSince(toldUpTo, handing?.text) : { events: [], upTo: undefined }
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
  const narrator = createNarrator({ put, showPartial() {} })
  let { turn, cursor } = folder.notes
  const { handing, metadata } = folder.notes
  if (turn !== null) narrator.continueTurn(turn)

  const takePrompt = async ({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>) => {
    if (isOurs) cursor = Math.max(cursor, handing?.seq ?? 0)
    else await put(userText(text, { sentFrom: 'cli' }), row === undefined ? undefined : idOfRow(row))
    turn ??= await narrator.beginTurn(row)
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
  folder.note({ turn: null, handing: null, cursor, ...(upTo && { toldUpTo: upTo }) })
}
