import { longestClaimMs, type WorkStore } from '../../lib/store/work.ts'
import type { Deps } from '../engine/deps.ts'
import { storeTime } from '../engine/time.ts'

// Of two that claim at once, the second waits for the first and then finds its row.
const claim = `INSERT INTO work (name, holder, ends_at) VALUES ($1, $2, ${storeTime} + $3)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = ${storeTime} + $3
  WHERE work.holder = excluded.holder OR work.ends_at <= ${storeTime} OR work.ends_at > ${storeTime} + ${longestClaimMs}`

/** Who does which work. */
export function work({ write }: Deps): WorkStore {
  return {
    claimWork: (work, holder, forMs) => write('shared', async tx => (await tx.run(claim, [work, holder, forMs])) > 0)
  }
}
