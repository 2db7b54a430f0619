import { hash, timingSafeEqual } from 'node:crypto'
import { failure, tooMany } from '../../../protocol/wire/failures.ts'
import type { SignupCondition } from '../../../store/access/signup.ts'
import type { Deps } from '../../deps.ts'
import { hashInvite } from './invites.ts'
import type { SetupLock } from './setup-lock.ts'
import { fingerprintOfKey, type Newcomer, refusals, type SignupPolicy } from './signup.ts'

type PolicyDeps = Pick<Deps, 'store' | 'time'>

export function openSignup(deps: PolicyDeps): SignupPolicy {
  return policy(deps, () => 'always')
}

export function closedSignup(deps: PolicyDeps): SignupPolicy {
  return policy(deps, () => 'never')
}

/** A new person waits until the owner lets them in, and signs in again. */
export function approvedSignup(deps: PolicyDeps): SignupPolicy {
  return policy(deps, () => 'if-approved')
}

export function invitedSignup(deps: PolicyDeps): SignupPolicy {
  return policy(deps, ({ invite, network }) => ({ invite: invite === undefined ? null : hashInvite(invite), network }))
}

/** What an embedder's own policy gets about a new key, whose signature was valid. */
export interface Applicant extends Omit<Newcomer, 'network'> {
  /** Words that represent the key, for people to compare. */
  fingerprint: string
}
/** `ask-owner` is what the policy `approve` does. */
export type SignupDecision = 'admit' | 'refuse' | 'ask-owner'
export type DecideSignup = (applicant: Applicant) => SignupDecision | Promise<SignupDecision>

export function ownSignup(deps: PolicyDeps, decide: DecideSignup): SignupPolicy {
  const conditions = { admit: 'always', refuse: 'never', 'ask-owner': 'if-approved' } as const satisfies Record<
    SignupDecision,
    SignupCondition
  >
  return policy(deps, async ({ network: _, ...applicant }) => {
    const decision = await decide({ ...applicant, fingerprint: fingerprintOfKey(applicant.publicKey) })
    return conditions[decision]
  })
}

/**
 * The first account needs the code that only the machine's owner can read; `then` decides on all others.
 * Wrong codes lock it.
 */
export function ownerFirst(
  { store, setupCode, onOwner, lock }: { store: Deps['store']; setupCode: string; onOwner: () => void; lock: SetupLock },
  then: SignupPolicy
): SignupPolicy {
  let hasOwner = false

  /** The first account may have been created at another instance. */
  async function findOwner(): Promise<boolean> {
    if (!hasOwner && (await store.hasAccounts())) foundOwner()
    return hasOwner
  }

  function foundOwner(): void {
    if (!hasOwner) onOwner()
    hasOwner = true
  }

  function conditionFor(given: string | undefined): SignupCondition {
    if (given === undefined || lock.lockedForS > 0) return 'never'
    if (isSameCode(given, setupCode)) return 'if-first'
    lock.countWrong()
    return 'never'
  }

  return {
    conditionFor: async newcomer => ((await findOwner()) ? then.conditionFor(newcomer) : conditionFor(newcomer.setupCode)),
    async refusal(newcomer, condition) {
      if (await findOwner()) return then.refusal(newcomer, condition)
      return lock.lockedForS > 0 ? tooMany(lock.lockedForS, 'setup-locked') : failure('setup-code-required')
    },
    accountCreated: foundOwner
  }
}

function policy(deps: PolicyDeps, conditionFor: (newcomer: Newcomer) => SignupCondition | Promise<SignupCondition>): SignupPolicy {
  return { conditionFor: async newcomer => conditionFor(newcomer), refusal: refusals(deps), accountCreated() {} }
}

// People copy codes by hand: case, spaces and dashes do not count.
function isSameCode(given: string, code: string): boolean {
  return timingSafeEqual(digest(given), digest(code))
}

function digest(code: string): Buffer {
  return hash('sha256', code.replace(/[\s-]/g, '').toUpperCase(), 'buffer')
}
