import type { Refused } from '../../client/link/refusals.ts'
import type { Draft } from '../../client/sealed/messages.ts'
import type { MessageBody } from '../../protocol/sealed/messages.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import { ownWords } from './own-words.ts'
import { idOfRow } from './row-id.ts'

/** Messages that the server will never take: kept on this computer, and told of in the session. */
export interface RefusedMessages {
  /** What a person here has to know, since it cannot be told in the session either. */
  readonly trouble: string | undefined
  /** Resolves when it is kept, and on its way to be told. */
  take(draft: Draft, refusal: Refused): Promise<void>
  /** The server has these. */
  stored(messages: readonly { localId: string | null }[]): void
}

/**
 * One sentence at a time is on its way, and counts what is refused until the server has it. When it is refused itself, the server takes
 * nothing any more: then nothing more is said, or each sentence would bring the next.
 */
export function createRefusedMessages(
  folder: Pick<SessionFolder, 'setAside'>,
  put: (body: MessageBody, localId: string) => Promise<void>
): RefusedMessages {
  let sentence: string | undefined
  let trouble: string | undefined
  let untold: { draft: Draft; refusal: Refused }[] = []

  async function tell(): Promise<void> {
    const [first] = untold
    if (!first || sentence !== undefined || trouble !== undefined) return
    const told = untold
    untold = []
    // The same of the same message, in whichever process, so that the server stores it once [X1].
    sentence = idOfRow(`refused ${first.draft.localId}`)
    const what = told.length === 1 ? 'a message, which is kept' : `${told.length} messages, which are kept`
    await put(ownWords(`The server did not take ${what} on this computer: ${first.refusal.message}`), sentence).catch(() => {
      sentence = undefined
      untold = [...told, ...untold]
    })
  }

  return {
    get trouble() {
      return trouble
    },
    async take(draft, refusal) {
      if (draft.localId === sentence) {
        trouble = `The server takes no more messages of this session: ${refusal.message}. They are kept on this computer.`
        return
      }
      folder.setAside(draft, refusal.message)
      untold.push({ draft, refusal })
      await tell()
    },
    stored(messages) {
      if (!messages.some(({ localId }) => localId === sentence)) return
      sentence = undefined
      void tell()
    }
  }
}
