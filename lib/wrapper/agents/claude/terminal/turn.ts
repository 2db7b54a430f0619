import type { AgentEvent, TurnEnd } from '../../agent.ts'
import type { Translator } from '../transcript/history.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Usage } from '../usage.ts'
import type { Hook } from './hooks.ts'
import type { Requests } from './requests.ts'
import type { OwnStatus } from './screen.ts'

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

  /** Nothing can be open of a turn that is over. */
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

/** What we need of a Claude Code at its terminal, and see only once it was used. */
export interface Abilities {
  readonly wasHeard: boolean
  /** It called a hook. */
  hear(): void
  /** It wrote down something that we could read. */
  read(): void
  /** A turn is over. Tells what was missing in it. */
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
    'Claude Code told Afield nothing while it worked at its terminal: its hooks are switched off in its settings, or this version has others. So your phone drives it now; any key at the terminal brings its screen back.',
  transcript:
    'Afield does not find what Claude Code writes down of this conversation, so your phone could not read along. It drives a new conversation now; any key at the terminal brings the screen back.'
}

/** What Claude Code says, line by line while it says it; what it wrote down comes later, and whole. */
export interface PartialText {
  grow(hook: Hook): void
  /** Under which name a text that was written down grew before; undefined when it did not. */
  blockOf(text: string): string | undefined
  /** Tells what it will never write down: it is gone. */
  cut(): void
  /** What grew so far is over, or is said anew. */
  forget(): void
}

export function createPartialText(emit: (event: AgentEvent) => void): PartialText {
  let message: { id: string; deltas: string[]; told: number; blocks: number } | undefined

  const rest = () => message?.deltas.join('').slice(message.told) ?? ''
  const nameOf = ({ id, blocks }: { id: string; blocks: number }) => `live ${id} ${blocks}`

  return {
    grow({ message_id: id, index, delta }) {
      if (id === undefined || index === undefined || delta === undefined) return
      if (message?.id !== id) message = { id, deltas: [], told: 0, blocks: 0 }
      message.deltas[index] = delta
      const text = rest().trimStart()
      if (text !== '') emit({ type: 'text-grew', block: nameOf(message), text, thinking: false })
    },
    blockOf(text) {
      const grown = rest()
      // Several blocks of one message grow as if they were one; the last line may not have come yet.
      if (!message || grown.trim() === '' || !isBeginning(grown.trim(), text.trim())) return undefined
      const name = nameOf(message)
      message.told += grown.length - grown.trimStart().length + text.trim().length
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
