import type { NoticeQueue } from '../home/notice-queue.ts'

/** When to notify the phone that a person is needed. */
export interface Notices {
  turnBegan(from: 'phone' | 'terminal'): void
  /** `isLast`: nothing else is queued. */
  turnEnded(how: 'done' | 'cancelled' | 'failed', isLast: boolean): void
  /** The agent waits for a decision. `isAtTerminal`: someone may see it there, so the phone is notified only later. */
  asked(ask: string, isAtTerminal: boolean): void
  /** The agent has a question. */
  questioned(ask: string, isAtTerminal: boolean): void
  /** Fewer requests may be open than before. */
  review(): void
  /** The agent showed a sign of life. */
  heard(): void
  /** The session ended unexpectedly. */
  failed(): void
  /** The server is connected: pending notices are sent now. */
  connected(): void
  /** Resolves when the server has every notice that can be sent now. */
  settled(): Promise<void>
  /** Sends no more notices of its own accord. */
  close(): void
}

interface NoticesDeps {
  queue: NoticeQueue
  /** The open requests that wait for a person. */
  open(): readonly string[]
  clock?: NoticeClock
}

/** For short turns started at the terminal the server notifies no one. */
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
  const review = () => queue.keepOpen(isSilent ? [...open(), silence] : open())

  let isSilent = false
  const watch = (ms: number) => {
    cancelWatch = clock.later(() => {
      if (!turn) return
      const left = turn.heardAt + silentMs - clock.now()
      // Time spent waiting for a person does not count as silence.
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
    connected: () => void queue.flush(),
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

// Someone at the terminal has answered by then, or is away.
const atTerminalMs = 10_000
/** A tool may take its time; an agent without any output for so long is probably stuck. */
const silentMs = 10 * 60_000
const silence = 'silence'
