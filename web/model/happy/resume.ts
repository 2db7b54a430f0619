import { toBase64 } from '../../../lib/crypto/index.ts'
import type { SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import type { ServerLink } from '../account/server-link.ts'
import type { Home } from '../store.ts'

export interface ReminderLink {
  readonly vault: Pick<ServerLink['vault'], 'rawKey'>
  readonly feed: Pick<ServerLink['feed'], 'sessions'>
}

/** As helpers read it; one that does not fit Happy's passes over. */
export interface Reminder {
  readonly fallback?: {
    readonly metadata: SessionMetadata
    readonly metadataVersion: number
    readonly agentStateVersion: number
    readonly seq: number
    /** base64 of the 32 bytes. */
    readonly encryptionKey: string
    readonly encryptionVariant: 'dataKey'
  }
  /** Why there is none, for the sentence in which the helper refuses. */
  readonly fallbackReason?: string
}

/**
 * What a helper is told of a session that it is to begin again: it forgets those of long ago, and Happy's keeps none of another
 * installation. The key goes to no machine but the one that the session is from, which had it before.
 */
export function reminderFor(
  { vault, feed }: ReminderLink,
  { machines, sessions }: Pick<Home, 'machines' | 'sessions'>,
  machine: string,
  session: string
): Reminder {
  const helper = machines.get(machine)
  const metadata = sessions.get(session)?.metadata
  const row = [...feed.sessions.values()].find(({ id }) => id === session)
  if (helper === undefined || metadata === undefined || row === undefined) return {}
  if (metadata.machineId !== machine) return { fallbackReason: 'other-machine' }
  const key = vault.rawKey(row.dataEncryptionKey)
  if (key === undefined) return { fallbackReason: 'no-session-key' }
  const { seq, metadataVersion, agentStateVersion } = row
  return {
    fallback: { metadata, metadataVersion, agentStateVersion, seq, encryptionKey: toBase64(key), encryptionVariant: 'dataKey' }
  }
}
