import type { BusEvent } from '../../bus/bus.ts'
import type { CallFailure } from '../../protocol/wire/failures.ts'
import type { ChannelKind, DeliveryOutcome } from '../../protocol/wire/notifications.ts'
import type { PushResult } from '../push.ts'

/**
 * Counts what happens. Every label is from a fixed set: callers pass rows of our own tables, never client
 * text, so the number of series is bounded [R6].
 */
export interface Metrics {
  requestAnswered(route: string, status: number | 'gone', ms: number): void
  /** `other` stands for every name that is not in the table of events. */
  eventTaken(event: string, outcome: 'done' | 'refused' | 'failed'): void
  callEnded(outcome: 'answered' | CallFailure): void
  published(event: BusEvent): void
  committed(turn: { members: number; ms: number }): void
  notified(result: PushResult['result']): void
  /**
   * An attempt to show something; `waiting`: failed, and retried later. Results that its provider reports
   * later are counted too.
   */
  delivered(kind: ChannelKind, outcome: DeliveryOutcome): void
  /** A device acknowledged that it shows a notification. */
  arrived(): void
}

/** The result of the last scheduled backup. */
export interface BackupState {
  /** `none`: none was due yet. */
  last: 'ok' | 'failed' | 'none'
  /** When the last successful one was made; milliseconds since 1970. */
  goodAt: number | undefined
  taken: { ok: number; failed: number }
}

export const uncounted: Metrics = {
  requestAnswered() {},
  eventTaken() {},
  callEnded() {},
  published() {},
  committed() {},
  notified() {},
  delivered() {},
  arrived() {}
}
