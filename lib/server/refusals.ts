import { Failure, failure } from '../protocol/wire/failures.ts'
import { OverQuota } from '../store/quotas.ts'
import { RowDamaged, StoreBroken, StoreBusy, StoreFull } from '../store/store.ts'

/** The failure that a caller sees for an error, over HTTP, a socket or the control socket. Undefined for an unexpected error. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error
  if (error instanceof OverQuota) return failure(error.quota === 'kvValueBytes' ? 'body-too-large' : 'quota-reached')
  if (error instanceof StoreFull) return failure('storage-full')
  if (error instanceof RowDamaged) return failure('row-damaged')
  if (error instanceof StoreBusy) return failure('storage-busy')
  if (error instanceof StoreBroken) return failure('storage-failed')
  return undefined
}

/** Damage is an error for the caller but must also reach the operator; so must any unexpected error. */
export function isWorthReport(error: unknown): boolean {
  return error instanceof RowDamaged || !failureOf(error)
}
