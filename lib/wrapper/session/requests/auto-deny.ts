import { type Clock, systemClock } from '../../../async/clock.ts'
import type { AgentState, Unanswered } from '../../../protocol/sealed/session.ts'

/** Denies unanswered requests if a person chose that for the session, so that the agent continues without them. */
export interface AutoDeny {
  /** After so many minutes; null, the default: never. */
  choose(minutes: Unanswered['denyAfterMinutes'] | null): void
  /** Starts denying, by the id of the request. */
  begin(deny: (ask: string, reason: string) => Promise<unknown>): void
  /** The open requests may have changed. */
  review(): void
  close(): void
}

interface AutoDenyDeps {
  folder: { readonly notes: { unanswered?: Unanswered | undefined }; note(change: { unanswered: Unanswered | undefined }): void }
  /** Permissions that wait for a person. Plans are not included: the agent would only make another. */
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
      // A request that cannot be denied, because the agent offers no such choice, stays open.
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
