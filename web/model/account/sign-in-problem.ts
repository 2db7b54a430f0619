import { keyFingerprint, Refused } from '../../../lib/client/index.ts'
import { trueNow } from '../../core/clock.ts'

/** Why an attempt to sign in failed. */
export type SignInProblem =
  | { type: 'needs-setup-code' }
  | { type: 'needs-invite' }
  /** The owner of the server has been asked; `fingerprint` are the words that identify this key. */
  | { type: 'pending'; fingerprint: string }
  | { type: 'signup-closed' }
  | { type: 'locked'; nextAt: number | undefined }
  | { type: 'unreachable' }
  /** The key of another account is on this device, and may be its only copy. */
  | { type: 'has-account' }
  | { type: 'other'; message: string }

/** The cause, as far as a person can act on it. */
export function signInProblem(error: unknown, secret: Uint8Array): SignInProblem {
  if (!(error instanceof Refused)) return { type: 'unreachable' }
  if (error.code === 'setup-code-required') return { type: 'needs-setup-code' }
  if (error.code === 'invite-required') return { type: 'needs-invite' }
  if (error.code === 'pending') return { type: 'pending', fingerprint: keyFingerprint(secret) }
  if (error.status === 403) return { type: 'signup-closed' }
  if (error.status === 429) return { type: 'locked', nextAt: error.retryAfterMs === undefined ? undefined : trueNow() + error.retryAfterMs }
  return { type: 'other', message: error.code }
}
