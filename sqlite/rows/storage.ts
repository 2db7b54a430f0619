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

/** How much an account keeps. SQLite finds the length of a text without reading the text. */
export function storage({ database, queue }: Deps): StorageStore {
  const measure = database.prepare<[AccountId], Stored>(
    `SELECT messages, bytes AS messageBytes, attachment_bytes AS attachmentBytes, artifact_bytes AS artifactBytes,
       (SELECT count(*) FROM session WHERE session.account = account.key) AS sessions,
       ${stateBytes
         .map(({ of, columns }) => `(SELECT ifnull(sum(${columns.map(lengthOf).join(' + ')}), 0) FROM ${of} = account.key)`)
         .join(' + ')} AS state
     FROM account WHERE id = ?`
  )
  // The counters of the sessions themselves: no message is looked at.
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

const stateBytes = [
  {
    of: 'session CROSS JOIN session_cells ON session_cells.session = session.key WHERE session.account',
    columns: ['data_key', 'metadata', 'agent_state']
  },
  { of: 'machine WHERE machine.account', columns: ['data_key', 'metadata', 'daemon_state'] },
  { of: 'account_cells WHERE account_cells.account', columns: ['settings'] },
  { of: 'kv WHERE kv.account', columns: ['value'] }
]

function lengthOf(column: string): string {
  return `ifnull(octet_length(${column}), 0)`
}
