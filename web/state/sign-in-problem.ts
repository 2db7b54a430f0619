import { Refused } from '../../lib/client/index.ts'
import type { SignInProblem } from './account.ts'

/** What went wrong, as far as a person can do something about it. */
export function signInProblem(error: unknown): SignInProblem {
  if (!(error instanceof Refused)) return { type: 'unreachable' }
  if (error.code === 'setup-code-required') return { type: 'needs-setup-code' }
  if (error.status === 403) return { type: 'signup-closed' }
  if (error.status === 429) return { type: 'locked' }
  return { type: 'other', message: error.code }
}
