import { createPersistence } from '../../client/link/persist.ts'
import { Refused } from '../../client/link/refusals.ts'
import type { Rest } from '../../client/link/rest.ts'

/** Tells how far the messages of a session came: to this computer, and to the agent. */
export interface Receipts {
  delivered(seq: number): void
  read(seq: number): void
  /** There is a line again. */
  hurry(): void
}

/**
 * Best effort: what was not told when the process ends is told with the next message. While one request is under way the next
 * one waits, and says only the latest. A server that keeps no receipts is told nothing more.
 */
export function createReceipts(rest: Pick<Rest, 'call'>, session: string, end: AbortSignal): Receipts {
  const persistence = createPersistence({ signal: end })
  let [deliveredSeq, readSeq] = [0, 0]
  let told = ''
  let isTelling = false

  async function tell(): Promise<void> {
    isTelling = true
    try {
      for (let now = stand(); now !== told; now = stand()) {
        const sent = await persistence.attempt(async signal => {
          const latest = stand()
          await rest.call('markReceipts', { params: { id: session }, body: { deliveredSeq, readSeq } }, { signal })
          return latest
        })
        told = sent
      }
      isTelling = false
    } catch (error) {
      // Then it stays as it is: this server will never take them, or the session is over.
      if (!(error instanceof Refused) && !end.aborted) throw error
    }
  }
  const stand = () => `${deliveredSeq} ${readSeq}`
  const news = () => void (isTelling || tell())

  return {
    delivered(seq) {
      deliveredSeq = Math.max(deliveredSeq, seq)
      news()
    },
    read(seq) {
      readSeq = Math.max(readSeq, seq)
      deliveredSeq = Math.max(deliveredSeq, seq)
      news()
    },
    hurry: () => persistence.hurry()
  }
}
