import { pause } from '../async/pause.ts'
import { newEnvelope, newId, sessionMessage } from '../client/messages.ts'
import { OutboxFull } from '../client/outbox.ts'
import type { MessageBody } from '../protocol/sealed/messages.ts'

/** Puts on disk what a session has to say. */
export interface Keeping {
  /** Why something could not be kept, while that is so. */
  readonly trouble: string | undefined
  /**
   * On disk when it resolves. A full disk makes the agent's events wait in memory, so that nothing it said is lost; when
   * more waits for the server than is allowed, the agent works on, what it says is not kept, and the history says where [W3].
   */
  keep(body: MessageBody, localId?: string): Promise<void>
  /** Some of it was left out after all. */
  dropped(count: number): void
  /** The server has everything. */
  drained(): void
  /** Waits for the disk no more. */
  abandon(): void
}

const retryDiskMs = 1000
const tooMuch = 'too much waited for the server'

export function createKeeping(put: (body: MessageBody, localId?: string) => Promise<void>, onChange: () => void): Keeping {
  const end = new AbortController()
  let ofDisk: string | undefined
  let ofRoom: string | undefined
  let missing = 0
  let leftOut = 0

  const tell = (disk: string | undefined, room: string | undefined) => {
    if (ofDisk === disk && ofRoom === room) return
    ofDisk = disk
    ofRoom = room
    onChange()
  }
  // Put at once, as all that is kept: each stands where it belongs. What cannot be said now is said with what is kept next.
  const sayMissing = () => {
    const count = missing
    missing = 0
    const are = count === 1 ? 'message of the agent is' : 'messages of the agent are'
    if (count > 0) put(said(`${count} ${are} missing here: ${tooMuch}.`)).catch(() => (missing += count))
  }
  const sayLeftOut = () => {
    const count = leftOut
    leftOut = 0
    const were = count === 1 ? 'thought or plan was' : 'thoughts and plans were'
    if (count > 0) put(said(`Before this ${count} ${were} left out: ${tooMuch}.`)).catch(() => (leftOut += count))
  }
  return {
    get trouble() {
      return ofDisk ?? ofRoom
    },
    async keep(body, localId) {
      for (;;) {
        try {
          sayMissing()
          await put(body, localId)
          tell(undefined, ofRoom)
          return
        } catch (error) {
          if (end.signal.aborted) return
          if (error instanceof OutboxFull) {
            missing += 1
            return tell(ofDisk, 'Too much waits for the server: what the agent says now is not kept.')
          }
          tell(`Nothing can be kept on disk: ${error instanceof Error ? error.message : String(error)}`, ofRoom)
          await pause(retryDiskMs, { signal: end.signal }).catch(() => {})
        }
      }
    },
    dropped(count) {
      leftOut += count
      tell(ofDisk, 'Too much waits for the server: the oldest thoughts and plans are left out.')
    },
    drained() {
      if (ofRoom === undefined) return
      tell(ofDisk, undefined)
      sayMissing()
      sayLeftOut()
    },
    abandon: () => end.abort()
  }
}

function said(text: string): MessageBody {
  return sessionMessage(newEnvelope({ t: 'service', text }, { role: 'agent', turn: newId() }))
}
