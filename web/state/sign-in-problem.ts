import { keyFingerprint, Refused } from '../../lib/client/index.ts'
import { trueNow } from './clock.ts'
import type { SignInProblem } from './joining.ts'

/** What went wrong, as far as a person can do something about it. */
export function signInProblem(error: unknown, secret: Uint8Array): SignInProblem {
  if (!(error instanceof Refused)) return { type: 'unreachable' }
  if (error.code === 'setup-code-required') return { type: 'needs-setup-code' }
  if (error.code === 'invite-required') return { type: 'needs-invite' }
  if (error.code === 'pending') return { type: 'pending', fingerprint: keyFingerprint(secret) }
  if (error.status === 403) return { type: 'signup-closed' }
  if (error.status === 429) return { type: 'locked', nextAt: error.retryAfterMs === undefined ? undefined : trueNow() + error.retryAfterMs }
  return { type: 'other', message: error.code }
}
