import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { readDisk } from './disk.ts'
import type { Disks } from './disks.ts'
import { History } from './history.ts'
import { judge } from './judge.ts'
import { seededRandom } from './random.ts'
import { crowdOf, differences, settle, start, tell } from './rounds.ts'

export interface PowerCut {
  /** Messages on the disk after the cut, and promises made before it. */
  stored: number
  answered: number
  seenLive: number
  seenInPages: number
  /** Broken promises, each a sentence. */
  complaints: string[]
}

/** Cuts the power of the disk under a server at a random moment under load, and judges what a new server finds there. */
export async function cutPower({
  disks,
  seed,
  nodeArgs = []
}: {
  disks: Disks
  seed: number
  /** As for the victim of a kill. */
  nodeArgs?: readonly string[]
}): Promise<PowerCut> {
  const random = seededRandom(seed)
  const history = new History()
  const disk = disks.fresh()
  try {
    const before = await start({ data: join(disk.path, 'data'), nodeArgs })
    const { token, ids } = await settle(before.url)
    const work = crowdOf({ token, ids, history, random }).map(one => one.run(before.url))
    await pause(random.between(100, 900))
    const promised = history.copy()
    const data = join(disk.cut(), 'data')
    await before.kill()
    await Promise.all(work)

    const { flaws, sessions } = readDisk(data)
    const found = [...flaws, ...judge(promised, sessions)]
    const stored = sessions.reduce((sum, { messages }) => sum + messages.length, 0)
    const { answered, seenLive, seenInPages } = promised
    if (found.length > 0) return { stored, answered, seenLive, seenInPages, complaints: found }
    const after = await start({ data })
    const told = await tell(after.url, { token, ids }).finally(() => after.kill())
    return { stored, answered, seenLive, seenInPages, complaints: differences(sessions, told) }
  } finally {
    disk.close()
  }
}
