import type { AgentEvent, TurnEnd } from '../../agent.ts'
import type { Translator } from '../transcript/history.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Usage } from '../usage.ts'
import type { Hook } from './hooks.ts'
import type { Requests } from './requests.ts'
import type { OwnStatus } from './screen.ts'

/** What Claude Code does in its terminal: whether a turn runs, and how it ends. */
export interface TerminalTurn {
  readonly isRunning: boolean
  begin(): void
  /** Its last text so far, as recorded. */
  said(text: string): void
  /** It was cut off. `endCut` reports that, once everything read with it is recorded. */
  cut(): void
  endCut(): void
  end(how: TurnEnd): void
  /** Its program is gone: it ends as already decided, otherwise as given. */
  lose(how: TurnEnd): void
  /** Ends it if its last text was sent. */
  endOnceReported(last: string | undefined, how: TurnEnd): void
  /** Resolves when the end of a finished turn was sent. */
  readonly ending: Promise<void>
  /** It was asked to stop: resolves when it has ended. */
  whenStopped(): Promise<void>
}

// A row of the transcript comes some time after its hook; on a busy computer, seconds.
const transcriptLagMs = 5_000
// Esc before the first word leaves no row, and calls no hook: only its status shows it. Other ends are
// reported earlier.
const lookEveryMs = 200
const idleForMs = { stopped: 300, worked: 1_500, never: 5_000 }

const stoppedThere = 'It was stopped at its terminal before it wrote anything.'

export function createTerminalTurn({
  emit,
  requests,
  translator,
  abilities,
  usage,
  transcript,
  status
}: {
  emit(event: AgentEvent): void
  requests: Requests
  translator: Translator
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

  /** A finished turn can have nothing open. */
  const end = (how: TurnEnd, isLost = false) => {
    requests.endAll()
    if (!isRunning) return
    isRunning = false
    toEnd = undefined
    isStopped = false
    clearInterval(looking)
    translator.cutSteps()
    emit({ type: 'turn-ended', ...how })
    tellOver()
    if (how.reason !== 'cancelled' && !isLost) abilities.judgeTurn()
  }

  /** Ends a turn whose end nothing else reports: its status says that it no longer works. */
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
      // The rows just read may have ended it.
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
    endOnceReported(last, how) {
      toEnd = how
      const isReported = () => !last?.trim() || lastText?.trim() === last.trim()
      ending = transcript()
        .readUntil(isReported, transcriptLagMs)
        // Its end includes the context usage.
        .then(() => usage.settled())
        .then(() => end(how))
    },
    whenStopped() {
      isStopped = true
      return new Promise(resolve => (tellOver = resolve))
    }
  }
}

/** What we need from a Claude Code at its terminal, which shows only in use. */
export interface Abilities {
  readonly wasHeard: boolean
  /** It called a hook. */
  hear(): void
  /** It recorded something that we could parse. */
  read(): void
  /** A turn is over. Reports what was missing in it. */
  judgeTurn(): void
}

export type Missing = 'hooks' | 'transcript'

export function createAbilities(onMissing: (missing: Missing) => void): Abilities {
  let wasHeard = false
  let wasRead = false
  return {
    get wasHeard() {
      return wasHeard
    },
    hear() {
      wasHeard = true
    },
    read() {
      wasRead = true
    },
    judgeTurn() {
      if (!wasHeard) onMissing('hooks')
      else if (!wasRead) onMissing('transcript')
    }
  }
}

/** For the phone and the terminal, why the screen is closed. */
export const withoutIt: Readonly<Record<Missing, string>> = {
  hooks:
    'Claude Code sent Afield no events while it worked at its terminal: its hooks are disabled in its settings, or this version has different ones. It continues on your phone; press any key at the terminal to bring its screen back.',
  transcript:
    'Afield cannot find the transcript of this conversation, so your phone could not follow it. A new conversation starts on your phone; press any key at the terminal to bring the screen back.'
}

/** Claude Code's text, line by line as it is written; the transcript comes later, and complete. */
export interface PartialText {
  grow(hook: Hook): void
  /** The name under which a recorded text grew before; undefined if it did not. */
  blockOf(text: string): string | undefined
  /** Sends what it will never record: it is gone. */
  cut(): void
  /** The growing text has ended, or is written again. */
  forget(): void
}

export function createPartialText(emit: (event: AgentEvent) => void): PartialText {
  let message: { id: string; deltas: string[]; sent: number; blocks: number } | undefined

  const rest = () => message?.deltas.join('').slice(message.sent) ?? ''
  const nameOf = ({ id, blocks }: { id: string; blocks: number }) => `live ${id} ${blocks}`

  return {
    grow({ message_id: id, index, delta }) {
      if (id === undefined || index === undefined || delta === undefined) return
      if (message?.id !== id) message = { id, deltas: [], sent: 0, blocks: 0 }
      message.deltas[index] = delta
      const text = rest().trimStart()
      if (text !== '') emit({ type: 'text-grew', block: nameOf(message), text, thinking: false })
    },
    blockOf(text) {
      const grown = rest()
      // Several blocks of one message grow as if they were one; the last line may not have arrived yet.
      if (!message || grown.trim() === '' || !isBeginning(grown.trim(), text.trim())) return undefined
      const name = nameOf(message)
      message.sent += grown.length - grown.trimStart().length + text.trim().length
      message.blocks++
      return name
    },
    cut() {
      const text = rest().trim()
      if (message && text !== '') emit({ type: 'text', block: nameOf(message), text, thinking: false, isCut: true })
      message = undefined
    },
    forget() {
      message = undefined
    }
  }
}

function isBeginning(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}
