import { pause } from '../../../async/pause.ts'
import { signalGroup } from './end-group.ts'
import { type Lease, listLeases } from './leases.ts'

/**
 * Ends the agents that wrappers which are no more have left running, and resolves when they have ended: two processes on one
 * conversation would overwrite each other, and what the first still writes down would not be told. A process whose id was
 * given to another program since is not touched.
 */
export async function endOrphans(home: string): Promise<void> {
  await Promise.all(orphansIn(home).map(orphan => endOrphan(home, orphan)))
}

function orphansIn(home: string): Lease[] {
  return listLeases(home).filter(({ of, owner }) => of === 'agent' && owner === undefined)
}

const graceMs = 3_000
const giveUpMs = 6_000
const lookEveryMs = 20

async function endOrphan(home: string, { name, pid }: Lease): Promise<void> {
  const began = performance.now()
  const since = () => performance.now() - began
  const isThere = () => orphansIn(home).some(orphan => orphan.name === name)
  // What an agent has started belongs to its group.
  signalGroup(pid, 'SIGTERM')
  while (isThere() && since() < graceMs) await pause(lookEveryMs)
  // One that the system does not let go keeps nobody from working.
  while (isThere() && since() < giveUpMs) {
    signalGroup(pid, 'SIGKILL')
    await pause(lookEveryMs)
  }
}
