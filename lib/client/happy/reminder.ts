import { toBase64 } from '../../crypto/index.ts'
import type { SessionMetadata } from '../../protocol/sealed/session.ts'
import type { AccountVault } from '../sealed/vault.ts'

/** A session as known to the app. */
interface KnownSession {
  readonly metadata: SessionMetadata
  readonly metadataVersion: number
  readonly agentStateVersion: number
  readonly seq: number
  readonly dataEncryptionKey: string | null
}

/** As daemons parse it; one that does not fit is skipped by Happy's. */
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
  /** Why there is none, for the daemon's error message. */
  readonly fallbackReason?: string
}

/**
 * What a daemon is sent about a session that it is to resume: it forgets old ones, and Happy's knows
 * none of another installation. The key goes only to the machine that the session is from, which had
 * it before.
 */
export function reminderFor(vault: Pick<AccountVault, 'rawKey'>, session: KnownSession, machine: string): Reminder {
  const { metadata, metadataVersion, agentStateVersion, seq, dataEncryptionKey } = session
  if (metadata.machineId !== machine) return { fallbackReason: 'other-machine' }
  const key = vault.rawKey(dataEncryptionKey)
  if (key === undefined) return { fallbackReason: 'no-session-key' }
  return {
    fallback: { metadata, metadataVersion, agentStateVersion, seq, encryptionKey: toBase64(key), encryptionVariant: 'dataKey' }
  }
}
