import { cryptoReady } from '../../lib/crypto/index.ts'
import { seededRandom } from '../crash/random.ts'
import { attackBytes } from './bytes.ts'
import { attackPolling, attackSocket } from './packets.ts'
import { attackRoute } from './requests.ts'
import { type Fuzzed, startFuzzed } from './server.ts'
import { World } from './world.ts'

const attackers = 8
const refillEvery = 50
const answersWithinMs = 10_000

export interface Outcome {
  seed: number
  inputs: number
  /** What must not have happened, in sentences. */
  findings: string[]
  /** What the server held, in bytes: at the start, warmed up, and at each tenth of the time after that. */
  memory: number[]
}

/** Sends a server everything but what it expects, for that long. */
export async function fuzz({
  data,
  seconds,
  seed,
  nodeArgs = [],
  until,
  show
}: {
  data: string
  seconds: number
  seed: number
  /** Arguments for Node.js that spoil a promise on purpose. */
  nodeArgs?: readonly string[]
  /** Ends it early. */
  until?: AbortSignal
  show?: (line: string, outcome: Outcome) => void
}): Promise<Outcome> {
  await cryptoReady()
  const server = await startFuzzed(data, nodeArgs)
  const outcome: Outcome = { seed, inputs: 0, findings: [], memory: [await server.memory()] }
  const endsAt = performance.now() + seconds * 1000
  const goesOn = () => performance.now() < endsAt && !until?.aborted && server.ended() === undefined && outcome.findings.length < 20
  const running = Array.from({ length: attackers }, (_, number) => attack(server, outcome, seed * attackers + number, goesOn))
  const watching = watch(server, outcome, seconds, goesOn, show)
  await Promise.all([...running, watching])

  const end = server.ended() ?? (await server.end())
  if (end !== 'exit code 0') outcome.findings.push(`The server ended with ${end}.`)
  outcome.findings.push(...server.complaints)
  return outcome
}

async function attack(server: Fuzzed, outcome: Outcome, seed: number, goesOn: () => boolean): Promise<void> {
  const random = seededRandom(seed)
  const world = new World(server, random)
  for (let round = 0; goesOn(); round += 1) {
    try {
      if (round % refillEvery === 0) await world.refill()
      const inputs = await attackOnce()
      outcome.inputs += inputs
    } catch (error) {
      if (server.ended() === undefined) outcome.findings.push(`An attack met ${String(error)}`)
    }
  }

  async function attackOnce(): Promise<number> {
    const luck = random.between(0, 9)
    if (luck === 0) return attackBytes(server, world)
    if (luck === 1) return attackPolling(server, world)
    if (luck < 5) return attackSocket(server, world)
    const finding = await attackRoute(server, world)
    if (finding !== undefined) outcome.findings.push(finding)
    return 1
  }
}

/** Asks all the while how the server is, and how much memory it takes. */
async function watch(
  server: Fuzzed,
  outcome: Outcome,
  seconds: number,
  goesOn: () => boolean,
  show?: (line: string, outcome: Outcome) => void
): Promise<void> {
  const everyMs = (seconds * 1000) / 10
  let next = performance.now() + everyMs
  while (goesOn()) {
    const health = await fetch(`${server.url}/health`, { signal: AbortSignal.timeout(answersWithinMs) }).catch(error => error)
    if (server.ended() === undefined && !(health instanceof Response && health.status === 200)) {
      outcome.findings.push(`It did not say that it is well: ${health instanceof Response ? health.status : String(health)}`)
    }
    if (performance.now() > next && server.ended() === undefined) {
      next += everyMs
      outcome.memory.push(await server.memory())
      show?.(`${outcome.inputs} inputs, ${megabytes(outcome.memory.at(-1) ?? 0)}`, outcome)
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
