import type { SessionFacts } from '../session/facts.ts'
import type { Life, MyAnswer } from './answers.ts'
import { type ClosedDecision, isOvertaken } from './closed-decisions.ts'
import type { Answered } from './decisions.ts'
import type { Waiting } from './waiting.ts'

/** Something to be decided that is not open any more, though its reader did not decide it or meant to do so otherwise. */
export interface Notice {
  readonly id: string
  readonly asked: Waiting
  /** Undefined when it was only read here. */
  readonly mine: MyAnswer | undefined
  /** Undefined when it ended without anybody's answer. */
  readonly answered: Answered | undefined
  readonly at: number
  /** That it was only read here, and what happened since. */
  readonly gone?: ClosedDecision | undefined
}

/** What is known of one session. */
export interface Noticed {
  readonly facts: SessionFacts
  readonly lives: ReadonlyMap<string, { answer: MyAnswer; life: Life }>
  readonly answered: readonly Answered[]
  readonly open: readonly Waiting[]
}

/** What is to be said of it, answers of this device first. */
export function noticesOf(known: Noticed, gone: readonly ClosedDecision[]): Notice[] {
  const { facts, lives, answered } = known
  const mine = [...lives].flatMap(([id, { answer, life }]): Notice[] => {
    const asked: Waiting = { type: 'permission', request: answer.request, id, createdAt: answer.request.createdAt }
    if (life.type === 'elsewhere') return [{ id, asked, mine: answer, answered: life.answered, at: life.answered.at }]
    return life.type === 'ended' ? [{ id, asked, mine: answer, answered: undefined, at: answer.at }] : []
  })
  const read = gone.flatMap((each): Notice[] => {
    const { session, asked, at } = each
    const { id } = asked
    if (session !== facts.id || lives.has(id) || isOvertaken(each, known.open, answered)) return []
    const notice = { id, asked, mine: undefined, at, gone: each }
    const end = answered.find(each => each.id === id)
    if (end !== undefined) return [{ ...notice, answered: end.outcome === 'ended' ? undefined : end, at: end.at }]
    // As long as its machine is away it may be open still.
    const isOver = facts.presence === 'ended' || (facts.presence === 'here' && !known.open.some(each => each.id === id))
    return isOver ? [{ ...notice, answered: undefined }] : []
  })
  return [...mine, ...read]
}
