import { pause } from '../async/pause.ts'
import { OutboxFull } from '../client/outbox.ts'
import type { MessageBody } from '../protocol/sealed/messages.ts'

/** Puts on disk what a session has to say. */
export interface Keeping {
  /** Why something could not be kept, while that is so. */
  readonly trouble: string | undefined
  /**
   * On disk when it resolves. A full disk makes the agent's events wait in memory, so that nothing it said is lost; when
   * more waits for the server than is allowed, the agent works on and what it says is not kept.
   */
  keep(body: MessageBody, localId?: string): Promise<void>
  /** Some of it was left out. */
  dropped(): void
  /** Waits for the disk no more. */
  abandon(): void
}

const retryDiskMs = 1000

export function createKeeping(put: (body: MessageBody, localId?: string) => Promise<void>, onChange: () => void): Keeping {
  const end = new AbortController()
  let trouble: string | undefined

  const tell = (now: string | undefined) => {
    trouble = now
    onChange()
  }
  return {
    get trouble() {
      return trouble
    },
    async keep(body, localId) {
      for (;;) {
        try {
          await put(body, localId)
          if (trouble !== undefined) tell(undefined)
          return
        } catch (error) {
          if (end.signal.aborted) return
          if (error instanceof OutboxFull) return tell('Too much waits for the server: what the agent says now is not kept.')
          tell(`Nothing can be kept on disk: ${error instanceof Error ? error.message : String(error)}`)
          await pause(retryDiskMs, { signal: end.signal }).catch(() => {})
        }
      }
    },
    dropped: () => tell('Too much waits for the server: the oldest thoughts and plans are left out.'),
    abandon: () => end.abort()
  }
}
