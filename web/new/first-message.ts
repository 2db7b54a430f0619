import { deviceDb } from '../core/device-db.ts'
import type { Live } from '../model/account/live.ts'
import { unfinishedUploads } from '../model/outbox/uploads.ts'
import { leavesName } from '../model/session/draft.ts'
import type { Picked } from '../model/session/picked-file.ts'

/**
 * Puts the first message of a new session and its files where they are written: from there they go as soon as the files are up, also after
 * the app was closed in between. False when the session is not known here yet; then only the words wait there.
 */
export async function keepFirst(live: Pick<Live, 'files'>, session: string, text: string, files: readonly Picked[]): Promise<boolean> {
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
  await db.write(leavesName(session), files.length)
  return true
}
