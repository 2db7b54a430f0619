import { type SealingKey, terminalVault } from '../../client/sealed/vault.ts'
import { fromBase64, toBase64 } from '../../crypto/bytes.ts'
import type { Credentials } from '../home/credentials.ts'

/** The key of a new session, in base64; null when it is sealed with the secret of its account. */
export function newSessionKey({ keys }: Credentials): string | null {
  const vault = terminalVault(keys)
  return vault.version === 1 ? null : toBase64(vault.newSessionKey().raw)
}

/** The same, from how it was noted. */
export function openSessionKey({ keys }: Credentials, noted: string | null): SealingKey {
  const vault = terminalVault(keys)
  const raw = noted === null ? undefined : fromBase64(noted)
  return raw ? vault.openSessionKey(raw) : vault.newSessionKey()
}
