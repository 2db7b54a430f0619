import { hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../async/clock.ts'
import { type Failure, failure } from '../../protocol/wire/failures.ts'
import type { SignIn, Store } from '../../store/store.ts'

const wrongCodesAllowed = 10
const lockedForMs = 60_000

/** Who may create an account with a key that nobody has signed in with before. */
export interface SignupPolicy {
  admits(setupCode: string | undefined): SignIn['create']
  /** Why an unknown key was turned away. */
  refusal(store: Pick<Store, 'hasAccounts'>): Promise<Failure>
  accountCreated(): void
}

export const openSignup: SignupPolicy = {
  admits: () => 'always',
  refusal: async () => failure('signup-closed'),
  accountCreated() {}
}

export const closedSignup: SignupPolicy = { ...openSignup, admits: () => 'never' }

/**
 * The first account is for whoever has the code that only the machine's owner can read; after it, nobody is let in.
 * Ten wrong codes lock the door for a minute, from wherever they came.
 */
export function ownerSignup({ setupCode, onOwner, clock }: { setupCode: string; onOwner: () => void; clock: Clock }): SignupPolicy {
  let wrong = 0
  let lockedUntil = 0
  const isLocked = () => clock.now() < lockedUntil

  return {
    admits(given) {
      if (given === undefined || isLocked()) return 'never'
      if (isSameCode(given, setupCode)) return 'if-first'
      wrong += 1
      if (wrong % wrongCodesAllowed === 0) lockedUntil = clock.now() + lockedForMs
      return 'never'
    },
    async refusal(store) {
      if (await store.hasAccounts()) return failure('signup-closed')
      return failure(isLocked() ? 'setup-locked' : 'setup-code-required')
    },
    accountCreated: onOwner
  }
}

// People copy codes by hand: case, blanks and dashes do not count.
function isSameCode(given: string, code: string): boolean {
  return timingSafeEqual(digest(given), digest(code))
}

function digest(code: string): Buffer {
  return hash('sha256', code.replace(/[\s-]/g, '').toUpperCase(), 'buffer')
}
