import type { PlanEntry, StepContent, StepKind } from '../../../lib/protocol/sealed/messages.ts'
import type { SealFault } from '../../../lib/protocol/sealed/sealed-for.ts'
import type { Attached } from '../session/attachment.ts'

export interface Turn {
  readonly id: string | undefined
  readonly startedAt: number
}

export type StepState = 'running' | 'ok' | 'done' | 'failed' | 'denied' | 'stopped'

/** A tool call from start to end. `done` means it ended without a reported result. */
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
  /** For a subagent: how much it did and its last action. */
  readonly inner?: { readonly steps: number; readonly last: readonly string[] }
}

export interface Mine {
  readonly type: 'mine'
  readonly key: string
  readonly seq: number
  readonly at: number
  readonly localId: string | null
  readonly text: string
  /** `decision`: a person's remark to a denial or a stop, which the wrapper forwards. */
  readonly from: 'app' | 'terminal' | 'decision'
  /** Files sent before it, which belong to it. */
  readonly files: readonly Attached[]
  /** It did not wait for the end of the turn. */
  readonly isSteer: boolean
  /** Its sender withdrew it before the agent had it. */
  readonly isWithdrawn: boolean
  /** The agent has it, although earlier ones may be waiting. */
  readonly isRead?: boolean
  /** Where and when it was stored, if it was moved elsewhere. */
  readonly own?: { readonly seq: number; readonly at: number } | undefined
  /** All versions of its text, by the messages that contained them. */
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

/** Faults in the messages of a session: found by its wrapper, or here, where they are shown. */
export type Fault = SealFault['type'] | 'missing' | 'late' | 'repeated'
