import type { AgentEvent, TurnEnd } from '../../agent.ts'
import type { Telling } from '../transcript/telling.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Usage } from '../transcript/usage.ts'
import type { Abilities } from './abilities.ts'
import type { Asking } from './asking.ts'
import type { OwnStatus } from './own-status.ts'

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
  /** Its program is gone: it ends as was to be told already, else as given. */
  lose(how: TurnEnd): void
  /** Ends it when its last words were told. */
  endOnceTold(last: string | undefined, how: TurnEnd): void
  /** Resolves when a turn that is over was told to be. */
  readonly ending: Promise<void>
  /** It is told to stop: resolves when it has ended. */
  whenStopped(): Promise<void>
}

// A row of the transcript comes some time after the hook that belongs to it; on a busy computer, seconds.
const transcriptLagMs = 5_000
// Esc before the first word leaves no row, and calls no hook: only its status says so. What ends otherwise is told sooner.
const lookEveryMs = 200
const idleForMs = { stopped: 300, worked: 1_500, never: 5_000 }

const stoppedThere = 'It was stopped at its terminal before it said anything.'

export function createTerminalTurn({
  emit,
  asking,
  telling,
  abilities,
  usage,
  transcript,
  status
}: {
  emit(event: AgentEvent): void
  asking: Asking
  telling: Telling
  abilities: Abilities
  usage: Usage
  transcript: () => Transcript
  status(): OwnStatus['now']
}): TerminalTurn {
  let isRunning = false
  let isCut = false
  let lastText: string | undefined
  let ending: Promise<void> = Promise.resolve()
  let toEnd: TurnEnd | undefined
  let isStopped = false
  let tellOver = () => {}
  let looking: NodeJS.Timeout | undefined

  /** Nothing can be open of a turn that is over. */
  const end = (how: TurnEnd, isLost = false) => {
    asking.endAll()
    if (!isRunning) return
    isRunning = false
    toEnd = undefined
    isStopped = false
    clearInterval(looking)
    telling.cutSteps()
    emit({ type: 'turn-ended', ...how })
    tellOver()
    if (how.reason !== 'cancelled' && !isLost) abilities.judgeTurn()
  }

  /** Ends a turn of which nothing else tells the end: its status says that it does not work any more. */
  const watch = () => {
    let hasWorked = false
    let idleSince: number | undefined
    clearInterval(looking)
    looking = setInterval(() => {
      const now = status()
      hasWorked ||= now === 'busy' || now === 'waiting'
      if (now !== 'idle' || toEnd) idleSince = undefined
      else idleSince ??= performance.now()
      const longest = isStopped ? idleForMs.stopped : hasWorked ? idleForMs.worked : idleForMs.never
      if (idleSince === undefined || performance.now() - idleSince < longest) return
      transcript().read()
      // What was read may have ended it.
      if (isRunning && !isStopped) emit({ type: 'notice', text: stoppedThere })
      end({ reason: 'cancelled' })
    }, lookEveryMs)
  }

  return {
    get isRunning() {
      return isRunning
    },
    get ending() {
      return ending
    },
    begin() {
      if (!isRunning) {
        isStopped = false
        watch()
      }
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
    },
    end: how => end(how),
    lose: how => end(toEnd ?? how, true),
    endOnceTold(last, how) {
      toEnd = how
      const isTold = () => !last?.trim() || lastText?.trim() === last.trim()
      ending = transcript()
        .readUntil(isTold, transcriptLagMs)
        // Its end says how full the context is.
        .then(() => usage.told())
        .then(() => end(how))
    },
    whenStopped() {
      isStopped = true
      return new Promise(resolve => (tellOver = resolve))
    }
  }
}
