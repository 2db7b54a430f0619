import { longestClaimMs, type WorkStore } from '../../lib/store/work.ts'

/** Who does which work. One process at a time has the database, so nothing of it has to be stored. */
export function work(clock: () => number): WorkStore {
  const claims = new Map<string, { holder: string; endsAt: number }>()
  return {
    async claimWork(work, holder, forMs) {
      const now = clock()
      const claim = claims.get(work)
      const isTaken = claim !== undefined && claim.endsAt > now && claim.endsAt <= now + longestClaimMs
      if (isTaken && claim.holder !== holder) return false
      claims.set(work, { holder, endsAt: now + forMs })
      return true
    }
  }
}
