import { accountVault, type Cipher } from '../../../lib/client/index.ts'
import type { WorkerDevice } from './device.ts'

/**
 * The open request of a session, for a notification without a preview. `several`: it is unknown which of them it was about; `none`: it is
 * over, or the session has not been heard from for a while. Rejects as `rest` does.
 */
export async function openAskOf(
  { rest, secret }: Pick<WorkerDevice, 'rest' | 'secret'>,
  session: string
): Promise<'none' | 'several' | { id: string; cipher: Cipher }> {
  const { sessions } = await rest.call('listActiveSessions', {})
  const row = sessions.find(({ id }) => id === session)
  const cipher = row && accountVault(secret()).openKey(row.dataEncryptionKey)
  const state = row?.agentState == null ? undefined : cipher?.open(row.agentState)
  if (cipher === undefined || !state?.ok) return 'none'
  const [id, ...more] = Object.keys(requestsIn(state.value))
  if (id === undefined) return 'none'
  return more.length === 0 ? { id, cipher } : 'several'
}

// The content is not decrypted: only whether it is the only one matters.
function requestsIn(state: unknown): object {
  const requests: unknown = typeof state === 'object' && state !== null && 'requests' in state ? state.requests : undefined
  return typeof requests === 'object' && requests !== null ? requests : {}
}
