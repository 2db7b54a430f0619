import { pause } from '../async/pause.ts'
import { OutboxFull } from '../client/outbox.ts'
import type { MessageBody } from '../protocol/sealed/messages.ts'
import { ownWords } from './own-words.ts'
import type { Uplink } from './uplink-contract.ts'

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
  /** The session ends: what was left out is said, whether the server has everything or not. */
  finish(): Promise<void>
  /** Waits for the disk no more. */
  abandon(): void
}

const retryDiskMs = 1000
const tooMuch = 'too much waited for the server'

export function createKeeping(put: Uplink['put'], onChange: () => void): Keeping {
  const end = new AbortController()
  let ofDisk: string | undefined
  let ofRoom: string | undefined
  /** The history says that words are missing, and nothing came after that. */
  let isGap = false
  let leftOut = 0

  const tell = (disk: string | undefined, room: string | undefined) => {
    if (ofDisk === disk && ofRoom === room) return
    ofDisk = disk
    ofRoom = room
    onChange()
  }
  // Said where they are missing, though there is no room: it has to be on disk already when this process dies.
  const sayMissing = async () => {
    if (isGap) return
    isGap = true
    const sentence = `Here messages of the agent are missing: ${tooMuch}.`
    await put(ownWords(sentence), undefined, { beyondLimit: true }).catch(() => (isGap = false))
  }
  const sayLeftOut = async () => {
    const count = leftOut
    leftOut = 0
    const were = count === 1 ? 'thought or plan was' : 'thoughts and plans were'
    const sentence = `Before this ${count} ${were} left out: ${tooMuch}.`
    if (count > 0) await put(ownWords(sentence), undefined, { beyondLimit: true }).catch(() => (leftOut += count))
  }
  return {
    get trouble() {
      return ofDisk ?? ofRoom
    },
    async keep(body, localId) {
      for (;;) {
        try {
          await put(body, localId)
          isGap = false
          tell(undefined, ofRoom)
          return
        } catch (error) {
          if (end.signal.aborted) return
          if (error instanceof OutboxFull) {
            await sayMissing()
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
      void sayLeftOut()
    },
    finish: sayLeftOut,
    abandon: () => end.abort()
  }
}
