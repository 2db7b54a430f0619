import { cryptoReady } from '../../lib/crypto/index.ts'
import { seededRandom } from '../crash/random.ts'
import { Bystander } from '../endurance/bystander.ts'
import { attackBytes } from './bytes.ts'
import type { HttpConnection } from './http-connection.ts'
import { attackPolling, attackSocket } from './packets.ts'
import { attackRoutes } from './requests.ts'
import { answersWithinMs, type Fuzzed, startFuzzed } from './server.ts'
import { Tally } from './tally.ts'
import { World } from './world.ts'

/** So many that the server always has something to judge, however long each waits for answers. */
const attackers = 32
const refillEvery = 50
const mostFindings = 20

export interface Outcome {
  seed: number
  tally: Tally
  /** What the server held, in bytes: at the start, warmed up, and at each tenth of the time after that. */
  memory: number[]
  /** How long it was attacked. */
  seconds: number
  /** What somebody wrote and heard meanwhile who uses the server as it is meant. */
  messages: number
}

/** What one attacker has at hand. */
export interface Attack {
  server: Fuzzed
  world: World
  tally: Tally
  /** For requests; kept from one to the next. */
  connection: HttpConnection | undefined
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
  const tally = new Tally()
  const outcome: Outcome = { seed, tally, memory: [await server.memory()], seconds: 0, messages: 0 }
  const closers: (() => unknown)[] = []
  const bystander = await Bystander.at({ teardown: (close: () => unknown) => void closers.push(close) }, server)
  const beganAt = performance.now()
  const endsAt = beganAt + seconds * 1000
  const goesOn = () => performance.now() < endsAt && !until?.aborted && server.ended() === undefined && tally.findings.length < mostFindings
  const attacking = () =>
    Promise.all([
      ...Array.from({ length: attackers }, (_, number) => attack(server, tally, seed * attackers + number, goesOn)),
      watch(server, outcome, seconds, goesOn, show)
    ])
  try {
    outcome.messages = (await bystander.waits(attacking)).count
  } catch (error) {
    if (server.ended() === undefined) tally.found(`Somebody else was not served: ${String(error)}`)
  }
  outcome.seconds = (performance.now() - beganAt) / 1000
  for (const close of closers) await close()

  const end = server.ended() ?? (await server.end())
  if (end !== 'exit code 0') tally.found(`The server ended with ${end}.`)
  for (const complaint of server.complaints) tally.found(complaint)
  return outcome
}

async function attack(server: Fuzzed, tally: Tally, seed: number, goesOn: () => boolean): Promise<void> {
  const random = seededRandom(seed)
  const world = new World(server, random)
  const attack: Attack = { server, world, tally, connection: undefined }
  for (let round = 0; goesOn(); round += 1) {
    try {
      if (round % refillEvery === 0 || !world.isWhole) await world.refill()
      await attackOnce()
    } catch (error) {
      if (server.ended() === undefined) tally.found(`An attack met ${String(error)}`)
    }
  }
  attack.connection?.destroy()

  function attackOnce(): Promise<void> {
    const luck = random.between(0, 9)
    if (luck === 0) return attackBytes(attack)
    if (luck === 1) return attackPolling(attack)
    return luck < 4 ? attackSocket(attack) : attackRoutes(attack)
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
      outcome.tally.found(`It did not say that it is well: ${health instanceof Response ? health.status : String(health)}`)
    }
    if (performance.now() > next && server.ended() === undefined) {
      next += everyMs
      outcome.memory.push(await server.memory())
      show?.(`${outcome.tally.total} inputs, ${megabytes(outcome.memory.at(-1) ?? 0)}`, outcome)
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
