import type { PlanEntry, StepContent, StepKind } from '../../../lib/protocol/sealed/messages.ts'
import type { SealFault } from '../../../lib/protocol/sealed/sealed-for.ts'
import type { Attached } from '../session/attached.ts'

export interface Turn {
  readonly id: string | undefined
  readonly startedAt: number
}

export type StepState = 'running' | 'ok' | 'done' | 'failed' | 'denied' | 'stopped'

/** A tool call from start to end. `done` means it ended and nobody said how. */
export interface Step {
  readonly type: 'step'
  readonly key: string
  readonly seq: number
  readonly at: number
  readonly call: string
  readonly kind: StepKind | 'agent'
  readonly name: string
  readonly title: string
  readonly description: string
  readonly args: Readonly<Record<string, unknown>>
  readonly locations: readonly string[]
  readonly content: readonly StepContent[]
  readonly state: StepState
  readonly endedAt: number | undefined
  /** Of a subagent: how much it did and what it did last. */
  readonly inner?: { readonly steps: number; readonly last: readonly string[] }
}

export interface Mine {
  readonly type: 'mine'
  readonly key: string
  readonly seq: number
  readonly at: number
  readonly localId: string | null
  readonly text: string
  /** `decision`: what a person added to a no or a stop, which the wrapper hands over. */
  readonly from: 'app' | 'terminal' | 'decision'
  /** What was sent before it, and belongs to it. */
  readonly files: readonly Attached[]
  /** It did not wait for the end of the turn. */
  readonly isSteer: boolean
  /** Its sender took it back before the agent had it. */
  readonly isWithdrawn: boolean
  /** The agent has it, though earlier ones may wait. */
  readonly isRead?: boolean
  /** Where and when it was stored, when it was moved and stands elsewhere. */
  readonly own?: { readonly seq: number; readonly at: number } | undefined
  /** Its words as they were and became, by the messages that said them. */
  readonly versions?: readonly (Pick<Mine, 'text' | 'files' | 'isSteer' | 'seq' | 'at'> & { readonly localId: string })[] | undefined
}

/** Of one sender. */
export interface Missing {
  readonly sender: string
  readonly numbers: readonly number[]
}

/** Where something stands, and when it happened. */
export interface Place {
  readonly key: string
  readonly seq: number
  readonly at: number
}

export type Item =
  | Mine
  | Step
  | (Place & { readonly type: 'prose'; readonly text: string; readonly isCut?: boolean })
  | (Place & { readonly type: 'thinking'; readonly text: string; readonly tookMs: number | undefined })
  | (Place & { readonly type: 'plan'; readonly entries: readonly PlanEntry[] })
  | (Place & { readonly type: 'file'; readonly file: Attached })
  | (Place & { readonly type: 'turn-ended'; readonly status: 'failed' | 'cancelled' })
  | (Place & { readonly type: 'note'; readonly text: string })
  | (Place & { readonly type: 'fault'; readonly fault: Fault; readonly count: number; readonly missing?: Missing | undefined })
  | (Place & { readonly type: 'limit'; readonly endsAt: number | undefined })
  | (Place & { readonly type: 'control'; readonly to: 'terminal' | 'app' })
  | (Place & { readonly type: 'skipped'; readonly why: 'unreadable' | 'unknown-shape'; readonly count: number })

/** What is wrong with the messages of a session: found by its wrapper, or here, where they are shown. */
export type Fault = SealFault['type'] | 'missing' | 'late' | 'repeated'
