import { type CallFailure, type FailureCode, failure } from '../../../protocol/wire/failures.ts'
import type { Sealed } from '../../../protocol/wire/ids.ts'
import type { BodyOf } from '../../../protocol/wire/routes.ts'
import type { Caller } from '../../deps.ts'
import type { Calls } from './calls.ts'

/**
 * A call without a socket. It ends when the signal aborts, since the caller is gone. Not an async function:
 * that would retain the parameters until the answer comes.
 */
export function callMethod(
  { calls }: { calls: Pick<Calls, 'call'> },
  caller: Caller,
  { method, params }: BodyOf<'callMethod'>,
  signal: AbortSignal
): Promise<Sealed> {
  return calls.call(caller, { method, params, from: undefined, signal }).then(result => {
    if (!result.ok) throw failure(failureByReason[result.why])
    return result.value
  })
}

const failureByReason: Record<CallFailure, FailureCode> = {
  'no-method': 'bad-input',
  'not-available': 'callee-away',
  'same-connection': 'callee-away',
  'callee-gone': 'callee-gone',
  'timed-out': 'call-timed-out',
  'too-many': 'too-many-calls',
  internal: 'call-failed'
}
