import type { BodyOf } from '../protocol/wire/routes.ts'

export type Notice = BodyOf<'notify'>

/** When the phone is to be told that somebody is wanted. */
export interface Notices {
  turnBegan(from: 'phone' | 'terminal'): void
  /** `isLast`: nothing else waits to be done. */
  turnEnded(how: 'done' | 'cancelled' | 'failed', isLast: boolean): void
  /** The agent waits for a decision. With `isOpen` somebody may see it at the terminal, and the phone is told if that does not help. */
  asked(isOpen?: () => boolean): void
  /** The agent wants to know something. */
  questioned(isOpen?: () => boolean): void
}

/** `send` hands a notice to the server, which decides whether phones are told: of short turns that began at the terminal they are not. */
export function createNotices(
  send: (notice: Notice) => void,
  { now = () => performance.now(), later = (run, afterMs) => void setTimeout(run, afterMs).unref() }: Partial<Clock> = {}
): Notices {
  let turn: { from: 'phone' | 'terminal'; beganAt: number } | undefined

  const sendIfOpen = (notice: Notice, isOpen: (() => boolean) | undefined) => {
    if (isOpen) later(() => isOpen() && send(notice), atTerminalMs)
    else send(notice)
  }

  return {
    turnBegan(from) {
      turn = { from, beganAt: now() }
    },
    turnEnded(how, isLast) {
      const ended = turn
      turn = undefined
      if (how === 'cancelled' || !isLast) return
      const began = ended && { turnMs: now() - ended.beganAt, startedFrom: ended.from }
      send({ ...words[how === 'done' ? 'done' : 'error'], ...began })
    },
    asked(isOpen) {
      sendIfOpen(words.permission, isOpen)
    },
    questioned(isOpen) {
      sendIfOpen(words.question, isOpen)
    }
  }
}

interface Clock {
  /** In ms. */
  now(): number
  later(run: () => void, afterMs: number): void
}

// Who sits there has answered by then, or is away.
const atTerminalMs = 10_000

// The server and whoever delivers the notice read this, so it says nothing of what the agent does.
const words = {
  done: { kind: 'done', title: 'Your agent is done', body: 'Open the app to see it.' },
  error: { kind: 'error', title: 'Your agent ran into an error', body: 'Open the app to see it.' },
  permission: { kind: 'permission', title: 'Your agent needs a decision', body: 'Open the app to decide.' },
  question: { kind: 'question', title: 'Your agent has a question', body: 'Open the app to answer.' }
} as const satisfies Record<string, Notice>
