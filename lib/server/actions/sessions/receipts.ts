import { failure } from '../../../protocol/wire/failures.ts'
import type { SessionId } from '../../../protocol/wire/ids.ts'
import type { BodyOf } from '../../../protocol/wire/routes.ts'
import type { Receipts } from '../../../store/messages.ts'
import type { Caller, Deps } from '../../deps.ts'
import { announce } from '../../publish.ts'

/**
 * Reports how far the messages of a session got; values not above the earlier ones change nothing and are
 * not announced.
 */
export async function markReceipts(
  deps: Pick<Deps, 'store' | 'bus' | 'now'>,
  caller: Caller,
  session: SessionId,
  { deliveredSeq = 0, readSeq = 0 }: BodyOf<'markReceipts'>
): Promise<Receipts> {
  const outcome = await deps.store.markReceipts(caller.account, session, { deliveredSeq, readSeq })
  if (outcome === 'missing') throw failure('session-not-found')
  const { moved, clock, ...receipts } = outcome
  if (moved) announce(deps, caller, clock, { type: 'receipts-marked', session, ...receipts })
  return receipts
}
