import { accountTopic } from '../../../bus/bus.ts'
import type { Sealed, SessionId } from '../../../protocol/wire/ids.ts'
import type { RowRef } from '../../../store/rows.ts'
import type { Caller, Deps } from '../../deps.ts'

/**
 * Forwards growing text to the apps. It is not stored, so the scope of the connection is the proof that the
 * session is the sender's; text from other connections is dropped.
 */
export function forwardPartial(
  { bus }: Pick<Deps, 'bus'>,
  { account, skip }: Caller,
  scope: 'app' | RowRef,
  { session, partial }: { session: SessionId; partial: Sealed }
): void {
  if (scope === 'app' || scope.of !== 'session' || scope.id !== session) return
  bus.publish(accountTopic(account), { type: 'signal', audience: 'apps', skip, signal: { type: 'partial', session, partial } })
}
