import { fromBase64, toBase64 } from '../../../lib/crypto/index.ts'
import { type DeviceDb, deviceDb } from '../../core/device-db.ts'
import { storedList } from '../../core/stored-list.ts'
import type { Attached } from '../session/attachment.ts'

/** An upload, sealed as sent. */
export interface Upload extends Omit<Attached, 'ref'> {
  readonly key: string
  readonly sealed: Uint8Array<ArrayBuffer>
  /** Where the server stores the bytes; undefined until requested. */
  readonly ref?: string | undefined
}

/** The files of a session that were not uploaded when the app was closed. */
export interface UnfinishedUploads {
  read(): Promise<readonly Upload[]>
  keep(upload: Upload): Promise<void>
  noteRef(key: string, ref: string): Promise<void>
  drop(key: string): Promise<void>
}

/** Nothing here rejects: a file that cannot be stored is still uploaded while the app is open. */
export function unfinishedUploads(
  session: string,
  db: () => Promise<Pick<DeviceDb, 'read' | 'write' | 'remove'>> = deviceDb
): UnfinishedUploads {
  // The bytes are stored separately, so that they are written once.
  const list = storedList<Omit<Upload, 'sealed'>>(`uploads.${session}`, db)
  const bytesName = (key: string) => `upload.${session}.${key}`
  const quietly = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => {},
      () => {}
    )
  return {
    async read() {
      const entries = await list.read().catch(() => [])
      const found: Upload[] = []
      for (const entry of entries) {
        const kept = await db()
          .then(kept => kept.read(bytesName(entry.key)))
          .catch(() => undefined)
        const sealed = typeof kept === 'string' ? fromBase64(kept) : undefined
        if (sealed) found.push({ ...entry, sealed: new Uint8Array(sealed) })
        else await quietly(list.drop(entry.key))
      }
      return found
    },
    keep: ({ sealed, ...entry }) =>
      quietly(
        db()
          .then(kept => kept.write(bytesName(entry.key), toBase64(sealed)))
          .then(() => list.put(entry))
      ),
    noteRef: (key, ref) => quietly(list.change(key, entry => entry && { ...entry, ref })),
    drop: key => quietly(list.drop(key).then(async () => (await db()).remove(bytesName(key))))
  }
}
