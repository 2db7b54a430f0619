import type { Answered } from '../decisions/decisions.ts'
import type { Item, Step } from './items.ts'

type PlanItem = Extract<Item, { type: 'plan' }>
type ThinkingItem = Extract<Item, { type: 'thinking' }>

/** Three or more consecutive steps that only read. */
export interface Looked {
  readonly type: 'looked'
  readonly key: string
  readonly rows: readonly (Step | ThinkingItem)[]
  readonly steps: number
  readonly tookMs: number
}

/** An answered permission that belongs to no known step. */
interface LooseAnswered {
  readonly type: 'decision'
  readonly key: string
  readonly at: number
  readonly answered: Answered
}

export type TrailRow = Step | PlanItem | ThinkingItem | Looked | LooseAnswered
type Standing = Exclude<Item, Step | PlanItem | ThinkingItem>

/** A top-level element of the column: a bubble, a paragraph, a trail of steps. */
export type Block =
  | { readonly type: 'day'; readonly key: string; readonly at: number }
  | { readonly type: 'item'; readonly key: string; readonly item: Standing }
  | { readonly type: 'trail'; readonly key: string; readonly rows: readonly TrailRow[] }

/** Fewer steps than this are shown individually. */
const leastToFold = 3

/** By tool call: how it was answered. */
type AnsweredCalls = ReadonlyMap<string, Answered>

/** The items as blocks, with a day line before the first block of each local day. Permissions in `answered` get their own block. */
export function blocksOf(items: readonly Item[], loose: readonly Answered[] = [], answered: AnsweredCalls = new Map()): Block[] {
  const blocks: Block[] = []
  let rows: TrailRow[] = []
  let day = { from: 0, to: 0 }
  const closeTrail = (): void => {
    const [first] = rows
    if (first !== undefined) blocks.push({ type: 'trail', key: `trail.${first.key}`, rows: folded(rows, answered) })
    rows = []
  }
  for (const item of withLoose(items, loose)) {
    if (item.at < day.from || item.at >= day.to) {
      closeTrail()
      blocks.push({ type: 'day', key: `day.${new Date(item.at).toDateString()}`, at: item.at })
      day = dayAround(item.at)
    }
    if (isRow(item)) rows.push(item)
    else {
      closeTrail()
      blocks.push({ type: 'item', key: item.key, item })
    }
  }
  closeTrail()
  return blocks
}

// Computing the date of each of ten thousand messages takes longer than everything else.
function dayAround(at: number): { from: number; to: number } {
  const midnight = (date: Date, days: number) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
  return { from: midnight(new Date(at), 0), to: midnight(new Date(at), 1) }
}

/** Whether two blocks look alike, so that the one on screen can stay. */
export function sameBlock(a: Block, b: Block): boolean {
  if (a === b) return true
  if (a.type === 'item') return b.type === 'item' && a.item === b.item
  if (a.type === 'trail') return b.type === 'trail' && a.rows.length === b.rows.length && a.rows.every((row, i) => sameRow(row, b.rows[i]))
  return b.type === 'day' && a.key === b.key
}

function sameRow(a: TrailRow, b: TrailRow | undefined): boolean {
  if (a === b) return true
  if (a.type === 'looked') return b?.type === 'looked' && a.rows.length === b.rows.length && a.rows.every((row, i) => row === b.rows[i])
  return a.type === 'decision' && b?.type === 'decision' && a.answered === b.answered
}

function isRow(item: Item | LooseAnswered): item is Step | PlanItem | ThinkingItem | LooseAnswered {
  return item.type === 'step' || item.type === 'plan' || item.type === 'thinking' || item.type === 'decision'
}

function withLoose(items: readonly Item[], loose: readonly Answered[]): readonly (Item | LooseAnswered)[] {
  const first = items[0]
  const shown = loose.filter(decision => first !== undefined && decision.at >= first.at).sort((a, b) => a.at - b.at)
  if (shown.length === 0) return items
  const all: (Item | LooseAnswered)[] = []
  let next = 0
  for (const item of items) {
    while (next < shown.length && (shown[next]?.at ?? 0) <= item.at) all.push(...looseRow(shown[next++]))
    all.push(item)
  }
  return [...all, ...shown.slice(next).flatMap(looseRow)]
}

function looseRow(decision: Answered | undefined): LooseAnswered[] {
  return decision === undefined ? [] : [{ type: 'decision', key: `decision.${decision.id}`, at: decision.at, answered: decision }]
}

function folded(rows: readonly TrailRow[], answered: AnsweredCalls): TrailRow[] {
  const out: TrailRow[] = []
  let run: (Step | ThinkingItem)[] = []
  const close = (): void => {
    // A thought after the last read belongs to what follows.
    const lastStep = run.findLastIndex(row => row.type === 'step')
    const looked = run.slice(0, lastStep + 1)
    const steps = looked.filter(row => row.type === 'step')
    const [first] = looked
    const end = steps.at(-1)
    if (first !== undefined && end !== undefined && steps.length >= leastToFold) {
      const tookMs = Math.max(0, (end.endedAt ?? end.at) - first.at)
      out.push({ type: 'looked', key: `looked.${first.key}`, rows: looked, steps: steps.length, tookMs }, ...run.slice(lastStep + 1))
    } else out.push(...run)
    run = []
  }
  for (const row of rows) {
    if (row.type === 'thinking' || (row.type === 'step' && isLook(row) && answered.get(row.call)?.by === undefined)) run.push(row)
    else {
      close()
      out.push(row)
    }
  }
  close()
  return out
}

function isLook(step: Step): boolean {
  const reads = step.kind === 'read' || step.kind === 'search' || step.kind === 'think'
  return reads && (step.state === 'ok' || step.state === 'done')
}
