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
export function storage({ read }: Deps): StorageStore {
  return {
    // The sessions' own counters: no message is read.
    readSessionSizes: account =>
      read(queries =>
        queries.all<SessionSize>(
          `SELECT session.id, session.bytes + coalesce((SELECT sum(received) FROM attachment
             WHERE attachment.account = session.account AND attachment.session = session.key), 0)::bigint AS bytes
           FROM session WHERE session.account = (SELECT key FROM account WHERE id = $1) ORDER BY session.id`,
          [account]
        )
      ),
    readStorage: account =>
      read(async queries => {
        const found = await queries.get<Stored>(
          `SELECT messages, bytes AS "messageBytes", attachment_bytes AS "attachmentBytes", artifact_bytes AS "artifactBytes",
             state_bytes AS state, (SELECT count(*) FROM session WHERE session.account = account.key) AS sessions
           FROM account WHERE id = $1`,
          [account]
        )
        if (!found) return 'missing'
        const { sessions, messages, messageBytes, attachmentBytes, artifactBytes, state } = found
        return { sessions, messages, bytes: { messages: messageBytes, attachments: attachmentBytes, artifacts: artifactBytes, state } }
      })
  }
}
