import { openCell, writeSessionMetadata } from '../../../lib/client/index.ts'
import { type SessionMetadata, sessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { sealed } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { ServerLink } from '../account/server-link.ts'

const waitMs = 15_000

/** Changes the metadata of a session, merging with concurrent writes. Rejects if it is not stored within 15 seconds. */
export async function changeMetadata(
  live: Pick<ServerLink, 'feed' | 'socket' | 'cipherOf'>,
  id: string,
  change: (metadata: SessionMetadata) => SessionMetadata
): Promise<void> {
  const row = [...live.feed.sessions.values()].find(session => session.id === id)
  const cipher = live.cipherOf(id)
  if (!row || !cipher) throw new Error('This device cannot open the session.')
  const cell = openCell<SessionMetadata>({
    cipher,
    schema: sessionMetadata,
    cell: { value: row.metadata, version: row.metadataVersion },
    empty: { path: '', host: '' },
    write: writeSessionMetadata(live.socket, id),
    socket: live.socket
  })
  const timer = setTimeout(() => cell.close(), waitMs)
  try {
    const stored = await cell.update(change)
    // The server does not echo this device's own writes.
    live.feed.take({ session: { ...row, metadata: v.parse(sealed, cipher.seal(stored)), metadataVersion: cell.version } })
  } finally {
    clearTimeout(timer)
    cell.close()
  }
}
