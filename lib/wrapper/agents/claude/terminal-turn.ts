import type { AgentEvent, TurnEnd } from '../agent.ts'
import type { Abilities } from './abilities.ts'
import type { Asking } from './asking.ts'
import type { Telling } from './telling.ts'
import type { Transcript } from './transcript.ts'
import type { Usage } from './usage.ts'

/** What Claude Code works at in its terminal: whether a turn runs, and how it ends. */
export interface TerminalTurn {
  readonly isRunning: boolean
  begin(): void
  /** Its last words so far, as they were written down. */
  said(text: string): void
  /** It was cut off. That is told by `endCut`, once all that was read with it is noted. */
  cut(): void
  endCut(): void
  end(how: TurnEnd): void
  /** Ends it when its last words were told. */
  endOnceTold(last: string | undefined, how: TurnEnd): void
  /** Resolves when a turn that is over was told to be. */
  readonly ending: Promise<void>
  /** Resolves when the turn of now is cut off. */
  whenCut(): Promise<void>
}

// A row of the transcript comes some time after the hook that belongs to it; on a busy computer, seconds.
const transcriptLagMs = 5_000

export function createTerminalTurn({
  emit,
  asking,
  telling,
  abilities,
  usage,
  transcript
}: {
  emit(event: AgentEvent): void
  asking: Asking
  telling: Telling
  abilities: Abilities
  usage: Usage
  transcript: () => Transcript
}): TerminalTurn {
  let isRunning = false
  let isCut = false
  let lastText: string | undefined
  let ending: Promise<void> = Promise.resolve()
  let tellCut = () => {}

  /** Nothing can be open of a turn that is over. */
  const end = (how: TurnEnd) => {
    asking.endAll()
    if (!isRunning) return
    isRunning = false
    telling.cutSteps()
    emit({ type: 'turn-ended', ...how })
    if (how.reason !== 'cancelled') abilities.judgeTurn()
  }

  return {
    get isRunning() {
      return isRunning
    },
    get ending() {
      return ending
    },
    begin() {
      isRunning = true
      lastText = undefined
    },
    said(text) {
      lastText = text
    },
    cut() {
      isCut = true
    },
    endCut() {
      if (!isCut) return
      isCut = false
      end({ reason: 'cancelled' })
      tellCut()
    },
    end,
    endOnceTold(last, how) {
      const isTold = () => !last?.trim() || lastText?.trim() === last.trim()
      ending = transcript()
        .readUntil(isTold, transcriptLagMs)
        // Its end says how full the context is.
        .then(() => usage.told())
        .then(() => end(how))
    },
    whenCut: () => new Promise(resolve => (tellCut = resolve))
  }
}
