import type { NoticeQueue } from '../home/notice-queue.ts'

/** When the phone is to be told that somebody is wanted. */
export interface Notices {
  turnBegan(from: 'phone' | 'terminal'): void
  /** `isLast`: nothing else waits to be done. */
  turnEnded(how: 'done' | 'cancelled' | 'failed', isLast: boolean): void
  /** The agent waits for a decision. `isAtTerminal`: somebody may see it there, and the phone is told when that does not help. */
  asked(ask: string, isAtTerminal: boolean): void
  /** The agent wants to know something. */
  questioned(ask: string, isAtTerminal: boolean): void
  /** What is open may be less than before. */
  review(): void
  /** The agent showed a sign of life. */
  heard(): void
  /** The session is over, and nobody asked for that. */
  failed(): void
  /** There is a line to the server: what could not be told before is told now. */
  lineIsUp(): void
  /** Resolves when the server has all that it can be told now. */
  settled(): Promise<void>
  /** Nothing more is told on its own account. */
  close(): void
}

interface NoticesDeps {
  queue: NoticeQueue
  /** The asks that wait for a person. */
  open(): readonly string[]
  clock?: NoticeClock
}

/** Of short turns that began at the terminal the server tells nobody. */
export function createNotices({ queue, open, clock = usual }: NoticesDeps): Notices {
  let turn: { from: 'phone' | 'terminal'; beganAt: number; heardAt: number } | undefined
  let cancelWatch = () => {}

  const add = (kind: 'permission' | 'question', ask: string) => {
    if (open().includes(ask)) queue.add({ kind, ask })
  }
  const tell = (kind: 'permission' | 'question', ask: string, isAtTerminal: boolean) => {
    if (isAtTerminal) clock.later(() => add(kind, ask), atTerminalMs)
    else queue.add({ kind, ask })
  }
  const review = () => queue.keepOpen(turn && isSilent ? [...open(), silence] : open())

  let isSilent = false
  const watch = (ms: number) => {
    cancelWatch = clock.later(() => {
      if (!turn) return
      const left = turn.heardAt + silentMs - clock.now()
      // Who was asked is not waited for by the agent.
      if (left > 0 || open().length > 0) return watch(Math.max(left, silentMs / 10))
      isSilent = true
      queue.add({ kind: 'silent', ask: silence })
    }, ms)
  }
  const speaks = () => {
    if (!isSilent) return
    isSilent = false
    review()
    watch(silentMs)
  }

  return {
    turnBegan(from) {
      const now = clock.now()
      turn = { from, beganAt: now, heardAt: now }
      queue.dropNews()
      cancelWatch()
      watch(silentMs)
    },
    turnEnded(how, isLast) {
      const ended = turn
      turn = undefined
      isSilent = false
      cancelWatch()
      review()
      if (how === 'cancelled' || !isLast) return
      const began = ended && { turnMs: clock.now() - ended.beganAt, startedFrom: ended.from }
      queue.add({ kind: how === 'done' ? 'done' : 'error', ask: null, ...began })
    },
    asked: (ask, isAtTerminal) => tell('permission', ask, isAtTerminal),
    questioned: (ask, isAtTerminal) => tell('question', ask, isAtTerminal),
    review,
    heard() {
      if (turn) turn.heardAt = clock.now()
      speaks()
    },
    failed: () => queue.add({ kind: 'failed', ask: null }),
    lineIsUp: () => void queue.flush(),
    settled: () => queue.flush(),
    close: () => cancelWatch()
  }
}

interface NoticeClock {
  /** In ms. */
  now(): number
  /** The returned function cancels. */
  later(run: () => void, afterMs: number): () => void
}

const usual: NoticeClock = {
  now: () => performance.now(),
  later(run, afterMs) {
    const timer = setTimeout(run, afterMs).unref()
    return () => clearTimeout(timer)
  }
}

// Who sits there has answered by then, or is away.
const atTerminalMs = 10_000
/** A tool may take its time; an agent of which nothing at all was heard for so long is likely stuck. */
const silentMs = 10 * 60_000
const silence = 'silence'
