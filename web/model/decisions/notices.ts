import type { SessionFacts } from '../session/facts.ts'
import type { Life, MyAnswer } from './answers.ts'
import { type ClosedDecision, isOvertaken } from './closed-decisions.ts'
import type { Answered } from './decisions.ts'
import type { Waiting } from './waiting.ts'

/** A decision that is no longer open, although the reader did not decide it or intended another answer. */
export interface Notice {
  readonly id: string
  readonly asked: Waiting
  /** Undefined if it was only read here. */
  readonly mine: MyAnswer | undefined
  /** Undefined if it ended without an answer. */
  readonly answered: Answered | undefined
  readonly at: number
  /** It was only read here; what happened since. */
  readonly gone?: ClosedDecision | undefined
}

/** The known facts of one session. */
export interface Noticed {
  readonly facts: SessionFacts
  readonly lives: ReadonlyMap<string, { answer: MyAnswer; life: Life }>
  readonly answered: readonly Answered[]
  readonly open: readonly Waiting[]
}

/** The notices to show, answers of this device first. */
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
    // While its machine is offline it may still be open.
    const isOver = facts.presence === 'ended' || (facts.presence === 'here' && !known.open.some(each => each.id === id))
    return isOver ? [{ ...notice, answered: undefined }] : []
  })
  return [...mine, ...read]
}
