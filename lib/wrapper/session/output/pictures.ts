import { withDeadline } from '../../../async/deadline.ts'
import { pause } from '../../../async/pause.ts'
import { newId } from '../../../client/sealed/messages.ts'
import type { AgentEvent } from '../../agents/agent.ts'
import type { SentFile } from './narrator.ts'

type Picture = Extract<AgentEvent, { type: 'picture' }>
type Said = Extract<AgentEvent, { type: 'text' }>

/** Pictures that an agent shows, being uploaded for devices. */
export interface Pictures {
  /** It appears in the history once it is on the server; nothing else waits for that. */
  show(picture: Picture): void
  /** Resolves when all are uploaded or reported missing; after `ms` the remaining ones are reported missing. */
  finish(ms: number): Promise<void>
}

const mostWaiting = 20
const eachWithinMs = 120_000
const lookAgainMs = 1000

export function createPictures(deps: {
  /** Resolves to the ref and the seal. Rejects with a reason that fits in a sentence. */
  send(bytes: Uint8Array, signal: AbortSignal): Promise<Pick<SentFile['file'], 'ref' | 'seal'>>
  /** Whether an attempt makes sense. */
  isLinked(): boolean
  tell(event: SentFile | Said): Promise<void>
}): Pictures {
  const { send, isLinked, tell } = deps
  const end = new AbortController()
  let waiting = 0
  let last = Promise.resolve()

  const deliver = async (picture: Picture): Promise<void> => {
    const { name, mimeType, bytes, row, subagent } = picture
    try {
      while (!isLinked()) await pause(lookAgainMs, { signal: end.signal })
      const sent = await withDeadline(eachWithinMs, signal => send(bytes, signal), { signal: end.signal })
      await tell({ type: 'file', file: { ...sent, name, size: bytes.length, mimeType }, row, subagent })
    } catch (error) {
      await sayMissing(picture, end.signal.aborted ? 'the session ended before it was sent' : reasonOf(error))
    }
  }
  const sayMissing = ({ name, row, subagent }: Picture, why: string) =>
    tell({ type: 'text', block: newId(), text: `[${name}: ${why}]`, thinking: false, row, subagent })

  return {
    show(picture) {
      if (waiting >= mostWaiting) return void sayMissing(picture, 'too many images are waiting to be sent')
      waiting += 1
      last = last.then(() => deliver(picture)).finally(() => (waiting -= 1))
    },
    async finish(ms) {
      await withDeadline(ms, () => last).catch(() => end.abort(new Error('the session ended')))
      await last
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && error.name !== 'DeadlineExceeded' ? error.message : 'it could not be sent in time'
}
