import type { AgentEvent, Untold } from '../agent.ts'
import type { Line } from './line.ts'
import { type Place, placeOf } from './places.ts'
import { type Turn, turnsPage } from './shapes.ts'
import { createTelling } from './telling.ts'

/** What Codex wrote down of a thread after a place. */
export async function readUntoldOf(line: Line, place: Place, isOurs: (clientId: string | undefined) => boolean): Promise<Untold> {
  const events: AgentEvent[] = []
  const telling = createTelling({ emit: event => events.push(event), isOurs })
  const turns = await turnsAfter(line, place)
  for (const turn of turns) {
    telling.begin(turn.id)
    // Of one that was ended without Codex, its beginning and its end were told.
    const isCut = place.isCut === true && turn.id === place.turn
    for (const item of turn.items) if (item && !(isCut && item.type === 'userMessage')) telling.completed(item)
    if (!isCut) telling.end({ ...turn, status: turn.status === 'inProgress' ? 'interrupted' : turn.status })
  }
  const last = turns.at(-1)
  return { events, upTo: placeOf(last ? { thread: place.thread, turn: last.id, isTold: true } : place) }
}

/** The turn that is the last one now. */
export async function lastTurn(line: Line, threadId: string): Promise<Turn | undefined> {
  return (await page(line, { threadId, limit: 1 })).data[0]
}

const pageSize = 20

/** In order. The turn of the place itself is among them unless it was told. */
export async function turnsAfter(line: Line, { thread, turn, isTold }: Place): Promise<Turn[]> {
  const turns: Turn[] = []
  let cursor: string | null | undefined
  do {
    const { data, nextCursor } = await page(line, { threadId: thread, limit: pageSize, cursor: cursor ?? null })
    for (const known of data) {
      if (known.id === turn && isTold) return turns.reverse()
      turns.push(known)
      if (known.id === turn) return turns.reverse()
    }
    cursor = nextCursor
  } while (cursor)
  return turns.reverse()
}

async function page(line: Line, params: { threadId: string; limit: number; cursor?: string | null }) {
  return turnsPage.parse(await line.request('thread/turns/list', { ...params, sortDirection: 'desc', itemsView: 'full' }))
}
