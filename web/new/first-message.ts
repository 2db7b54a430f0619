import { deviceDb } from '../core/device-db.ts'
import type { Live } from '../model/account/live.ts'
import { unfinishedUploads } from '../model/outbox/uploads.ts'
import { autoSendName } from '../model/session/draft.ts'
import type { Picked } from '../model/session/picked-file.ts'

/**
 * Stores the first message of a new session, with its files, as the draft of that session: it is sent once the files are uploaded, even
 * if the app was closed in between. False if the session is not known here yet; then only the text is stored.
 */
export async function storeFirstMessage(
  live: Pick<Live, 'files'>,
  session: string,
  text: string,
  files: readonly Picked[]
): Promise<boolean> {
  const db = await deviceDb()
  await db.write(`draft.${session}`, text)
  const uploads = unfinishedUploads(session)
  try {
    for (const { name, mimeType, bytes, image } of files) {
      const sealed = live.files.seal(session, bytes)
      await uploads.keep({ key: crypto.randomUUID(), name, mimeType, image, size: bytes.length, sealed })
    }
  } catch {
    return false
  }
  await db.write(autoSendName(session), files.length)
  return true
}
