import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Random } from '../crash/random.ts'
import { start } from '../crash/rounds.ts'
import type { Victim, VictimOptions } from '../crash/victim.ts'
import { type Postgres, startPostgres } from '../kit/postgres.ts'
import { type Redis, startRedis } from '../kit/redis.ts'

interface FleetOptions {
  instances: number
  random: Random
  /** Arguments for Node.js that may spoil a promise of all instances. */
  nodeArgs: readonly string[]
  /** An instance ended that nobody had told to. */
  onEnded(what: string): void
}

/** Several instances of one server, each in a process of its own, on a real PostgreSQL and a real Redis. */
export class Fleet {
  readonly postgres: Postgres
  readonly redis: Redis
  readonly #random: Random
  readonly #onEnded: (what: string) => void
  readonly #slots: { options: VictimOptions; server: Victim | undefined }[]

  private constructor(engines: { postgres: Postgres; redis: Redis }, { random, onEnded }: FleetOptions, slots: VictimOptions[]) {
    this.postgres = engines.postgres
    this.redis = engines.redis
    this.#random = random
    this.#onEnded = onEnded
    this.#slots = slots.map(options => ({ options, server: undefined }))
  }

  /** Ended with the test. */
  static async start(t: Pick<Test, 'teardown'>, options: FleetOptions): Promise<Fleet> {
    const { instances, nodeArgs } = options
    const folder = mkdtempSync(join(tmpdir(), 'afield-instances-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
    const postgres = await startPostgres(t)
    const redis = await startRedis(t, {}, { inOwnGroup: true })
    const args = ['--store', await postgres.makeDatabase(), '--bus', redis.url()]
    const slots = Array.from({ length: instances }, (_, at) => ({ data: join(folder, `${at}`), args, nodeArgs }))
    const fleet = new Fleet({ postgres, redis }, options, slots)
    t.teardown(() => fleet.close())
    await Promise.all(slots.map((_, at) => fleet.startAgain(at)))
    return fleet
  }

  get size(): number {
    return this.#slots.length
  }

  /** The address of an instance that runs, and of another one if there is one. While none runs, the same. */
  pick(except?: string): string {
    const urls = this.#slots.flatMap(({ server }) => server?.url ?? [])
    if (urls.length === 0 && except !== undefined) return except
    const others = urls.filter(url => url !== except)
    return this.#random.pick(others.length > 0 ? others : urls)
  }

  /** SIGKILL. Clients may ask it until it is gone. */
  async kill(at: number): Promise<void> {
    await this.#take(at)?.kill()
  }

  /** SIGTERM. Resolves with the code that it ended with. */
  async drain(at: number): Promise<number | null> {
    const server = this.#take(at)
    await server?.drain()
    return (await server?.ended)?.code ?? null
  }

  /** As a service manager does: again and again while the database is away. */
  async startAgain(at: number): Promise<void> {
    const slot = this.#slots[at]
    if (!slot) return
    while (!slot.server) {
      slot.server = await start(slot.options).catch(unlessDatabaseIsAway)
      if (!slot.server) await pause(200)
    }
    const { server } = slot
    void server.ended.then(({ code, signal }) => {
      if (slot.server === server) this.#onEnded(`an instance ended by itself with ${code ?? signal}`)
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((_, at) => this.kill(at)))
  }

  #take(at: number): Victim | undefined {
    const slot = this.#slots[at]
    const server = slot?.server
    if (slot) slot.server = undefined
    return server
  }
}

function unlessDatabaseIsAway(error: Error): undefined {
  if (!error.message.includes('ended with 75')) throw error
}
