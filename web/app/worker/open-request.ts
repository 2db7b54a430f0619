import { accountVault, type Cipher } from '../../../lib/client/index.ts'
import type { WorkerDevice } from './device.ts'

/**
 * What is open in a session, for a notification that came without a preview. `several`: which of them it was about nobody can say; `none`: it is
 * over, or its session was not heard of for a while. Rejects as `rest` does.
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

// What is asked stays unread: only whether it is one alone counts.
function requestsIn(state: unknown): object {
  const requests: unknown = typeof state === 'object' && state !== null && 'requests' in state ? state.requests : undefined
  return typeof requests === 'object' && requests !== null ? requests : {}
}
