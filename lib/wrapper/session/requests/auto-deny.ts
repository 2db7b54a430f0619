import { type Clock, systemClock } from '../../../async/clock.ts'
import type { AgentState, Unanswered } from '../../../protocol/sealed/session.ts'

/** Says no to what nobody answers, where a person chose that for the session, so that the agent goes on without it. */
export interface AutoDeny {
  /** After so many minutes; null: it waits for as long as it takes, as it does until somebody chooses. */
  choose(minutes: Unanswered['denyAfterMinutes'] | null): void
  /** Says no from now on, by the id of what was asked. */
  begin(deny: (ask: string, reason: string) => Promise<unknown>): void
  /** What is open may be another than before. */
  review(): void
  close(): void
}

interface AutoDenyDeps {
  folder: { readonly notes: { unanswered?: Unanswered | undefined }; note(change: { unanswered: Unanswered | undefined }): void }
  /** Permissions that wait for a person. No plan is among them: its agent would only make another. */
  open(): readonly string[]
  publish(change: (state: AgentState) => AgentState): void
  clock?: Clock
  /** In ms since 1970. */
  now?: () => number
}

export function createAutoDeny({ folder, open, publish, clock = systemClock, now = Date.now }: AutoDenyDeps): AutoDeny {
  const timers = new Map<string, () => void>()
  let deny: Parameters<AutoDeny['begin']>[0] | undefined

  const forget = (but: readonly string[] = []) => {
    for (const [ask, cancel] of timers) {
      if (but.includes(ask)) continue
      cancel()
      timers.delete(ask)
    }
  }
  const review = () => {
    const minutes = folder.notes.unanswered?.denyAfterMinutes
    const asks = deny && minutes !== undefined ? open() : []
    forget(asks)
    for (const ask of asks) {
      if (timers.has(ask)) continue
      // Who could not be told no, because the agent offers no such answer, goes on waiting.
      const end = () => void deny?.(ask, `Nobody answered within ${minutes} minutes. Go on without it.`).catch(() => {})
      timers.set(ask, clock.after((minutes ?? 0) * 60_000, end))
    }
  }
  return {
    choose(minutes) {
      const unanswered = minutes === null ? undefined : { denyAfterMinutes: minutes, since: now() }
      folder.note({ unanswered })
      publish(state => ({ ...state, unanswered }))
      forget()
      review()
    },
    begin(how) {
      deny = how
      const { unanswered } = folder.notes
      publish(state => ({ ...state, unanswered }))
      review()
    },
    review,
    close() {
      deny = undefined
      forget()
    }
  }
}
