import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../crash/random.ts'
import type { World } from './client.ts'
import { toldWithinMs } from './history.ts'

interface Strike {
  /** Which instance. */
  at: number
  /** Resolves when nobody begins anything more in this round. */
  loadEnds: Promise<unknown>
  /** Its own, so that how long it lasts does not depend on what others draw meanwhile. */
  random: Random
}

/** What is done to the servers, and undone again. */
export const faults = {
  /** `kill -9`; it comes back empty, mostly when there is no other message that would show the loss. */
  'Redis killed': async ({ fleet: { redis } }, { loadEnds, random }) => {
    await redis.kill()
    if (random.chance(0.7)) await loadEnds
    await pause(random.between(50, 1_000))
    await redis.start()
  },
  /** SIGSTOP: shorter or longer than it takes the instances to give it up. */
  'Redis stopped': async ({ fleet: { redis } }, { loadEnds, random }) => {
    redis.pause()
    if (random.chance(0.5)) await loadEnds
    await pause(random.between(500, 8_000))
    redis.resume()
  },
  /** Longer than what is stored may take to be told: it is told by other ways. */
  'Redis away': async ({ fleet: { redis } }, { loadEnds, random }) => {
    await redis.kill()
    await loadEnds
    await pause(toldWithinMs + random.between(1_500, 2_500))
    await redis.start()
  },
  'Redis emptied': async ({ fleet: { redis } }) => {
    await redis.ask('FLUSHALL')
  },
  'Redis disconnected': async ({ fleet: { redis } }) => {
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'normal')
  },
  'database crashed': async ({ fleet: { postgres } }) => {
    await postgres.crash()
  },
  'database away': async ({ fleet: { postgres } }, { random }) => {
    await postgres.stop()
    await pause(random.between(50, 4_000))
    await postgres.start()
  },
  'instance killed': async ({ fleet }, { at, random }) => {
    await fleet.kill(at)
    await pause(random.between(0, 1_000))
    await fleet.startAgain(at)
  },
  'instance drained': async ({ fleet, history }, { at }) => {
    const code = await fleet.drain(at)
    if (code !== 0) history.complain(`an instance that was told to end ended with ${code}`)
    await fleet.startAgain(at)
  }
} satisfies Record<string, (world: World, strike: Strike) => Promise<void>>

export type Fault = keyof typeof faults
export const allFaults = Object.keys(faults) as Fault[]

/** One to three of them, no two on the same program, and never on all instances. */
export function pickFaults(
  from: readonly Fault[],
  { random, instances }: { random: Random; instances: number }
): { fault: Fault; at: number }[] {
  const picked: { fault: Fault; at: number }[] = []
  const first = random.between(0, instances - 1)
  for (let tries = random.between(1, 3); tries > 0; tries -= 1) {
    const fault = random.pick(from)
    const [program] = fault.split(' ')
    const same = picked.filter(other => other.fault.startsWith(`${program}`)).length
    if (same < (program === 'instance' ? instances - 1 : 1)) picked.push({ fault, at: (first + same) % instances })
  }
  return picked
}
