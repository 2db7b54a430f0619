import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import type { SessionSize, StorageStore } from '../../lib/store/storage.ts'
import type { Deps } from '../engine/deps.ts'

interface Stored {
  sessions: number
  messages: number
  messageBytes: number
  attachmentBytes: number
  artifactBytes: number
  state: number
}

/** The storage of an account, from counters that every write moves. */
export function storage({ database, queue }: Deps): StorageStore {
  const measure = database.prepare<[AccountId], Stored>(
    `SELECT messages, bytes AS messageBytes, attachment_bytes AS attachmentBytes, artifact_bytes AS artifactBytes, state_bytes AS state,
       (SELECT count(*) FROM session WHERE session.account = account.key) AS sessions FROM account WHERE id = ?`
  )
  // The sessions' own counters: no message is read.
  const sizes = database.prepare<[AccountId], SessionSize>(
    `SELECT session.id, session.bytes + ifnull((SELECT sum(received) FROM attachment
       WHERE attachment.account = session.account AND attachment.session = session.key), 0) AS bytes
     FROM session WHERE session.account = (SELECT key FROM account WHERE id = ?) ORDER BY session.id`
  )
  return {
    readSessionSizes: account => queue.read(() => sizes.all(account)),
    readStorage: account =>
      queue.read(() => {
        const found = measure.get(account)
        if (!found) return 'missing'
        const { sessions, messages, messageBytes, attachmentBytes, artifactBytes, state } = found
        return { sessions, messages, bytes: { messages: messageBytes, attachments: attachmentBytes, artifacts: artifactBytes, state } }
      })
  }
}
