import { cryptoReady } from '../lib/crypto/index.ts'
import { createServer } from '../lib/index.ts'
import { openAccount, openSession } from './kit/accounts.ts'
import { type Child, dataDirectory, furtherArguments, isChild, serveParent, startChild } from './kit/child.ts'
import { median } from './kit/compare.ts'
import { type Engines, startEngines } from './kit/engines.ts'
import { openLoad } from './kit/load.ts'
import { openRawSocket } from './kit/raw-socket.ts'

/**
 * The processor time of a message with several instances on PostgreSQL and Redis, of all their processes, beside one instance on
 * SQLite. An account posts at one instance, and its phone listens at the next. Elapsed time says nothing here: all of them, and
 * those that post, share one computer.
 */
const rounds = 3
const cases = [
  { title: 'posted one at a time', batch: 1, messages: 8_000 },
  { title: 'in batches of 20', batch: 20, messages: 32_000 }
]
const layouts = [
  { name: '1 on SQLite', instances: 1, isShared: false },
  { name: '1 on PostgreSQL, Redis', instances: 1, isShared: true },
  { name: '2', instances: 2, isShared: true },
  { name: '4', instances: 4, isShared: true }
]
type Layout = (typeof layouts)[number]
const accounts = 8
const shape = { posters: 4, listeners: 1, textBytes: 2_000 }
const idle = { accounts: 1_000, connections: 2_000, seconds: 20 }

if (isChild) await instance()
else await main()

async function instance(): Promise<void> {
  const [store, bus] = furtherArguments()
  const { port } = await createServer({
    port: 0,
    data: dataDirectory(),
    signup: 'open',
    limits: 'off',
    logLevel: 'silent',
    ...(store !== undefined && bus !== undefined && { store, bus })
  })
  serveParent({ port })
}

/** Microseconds of processor time, by process. */
interface Cost {
  server: number
  postgres: number
  redis: number
}
interface Figures {
  cost: Cost
  bytes: { wal: number; redisIn: number; redisOut: number }
}

async function main(): Promise<void> {
  await cryptoReady()
  const engines = await startEngines('disk')
  try {
    console.log(
      `instances: ${shape.textBytes} bytes of sealed text, ${accounts} accounts with ${shape.posters} connections that post and one that listens at the next instance; µs of CPU per message, median of ${rounds}`
    )
    const figures = cases.map(() => layouts.map((): Figures[] => []))
    const stored: number[] = []
    for (let round = 0; round < rounds; round++) {
      for (const [at, layout] of layouts.entries()) {
        const world = await openWorld(engines, layout)
        for (const [which, one] of cases.entries()) figures[which]?.[at]?.push(await world.measure(one))
        if (layout.isShared) stored.push(await engines.bytesOfMessage(world.store))
        await world.close()
      }
    }
    for (const [which, { title }] of cases.entries()) print(title, figures[which] ?? [])
    console.log(`  a stored message is ${median(stored)} bytes in PostgreSQL, with its indexes`)
    console.log(`  idle, ${idle.connections} connections of ${idle.accounts} accounts; ms of CPU a minute, one round`)
    for (const layout of layouts) await printIdle(engines, layout)
  } finally {
    await engines.close()
  }
}

function print(title: string, byLayout: Figures[][]): void {
  console.log(`  ${title}`)
  const [single = []] = byLayout
  for (const [at, all] of byLayout.entries()) {
    const ratio = median(all.map(({ cost }, round) => sumOf(cost) / sumOf(single[round]?.cost)))
    const part = (name: keyof Cost) => `${median(all.map(({ cost }) => cost[name])).toFixed(1)} µs`.padStart(9)
    const bytes = (name: keyof Figures['bytes']) => median(all.map(({ bytes }) => bytes[name])).toFixed(0)
    const moved = layouts[at]?.isShared ? `   WAL ${bytes('wal')} B, Redis ${bytes('redisIn')} B in, ${bytes('redisOut')} B out` : ''
    console.log(
      `    ${layouts[at]?.name.padEnd(24)} servers ${part('server')}   PostgreSQL ${part('postgres')}   Redis ${part('redis')}   ratio ${ratio.toFixed(2)}${moved}`
    )
  }
}

function sumOf(cost: Cost | undefined): number {
  return cost ? cost.server + cost.postgres + cost.redis : Number.NaN
}

async function openWorld(engines: Engines, layout: Layout) {
  const store = layout.isShared ? await engines.postgres.makeDatabase() : ''
  const shared = layout.isShared ? [store, engines.redis.url()] : []
  const servers: Child[] = []
  // One after the other: the first creates the tables.
  while (servers.length < layout.instances) servers.push(await startChild(import.meta.filename, 'instance', 1, shared))
  const portOf = (number: number) => servers[number % servers.length]?.target.port ?? 0
  const urlOf = (number: number) => `http://127.0.0.1:${portOf(number)}`

  async function spent(): Promise<Cost> {
    const used = await Promise.all(servers.map(server => server.cpuUs()))
    const { postgres, redis } = engines.cpuUs()
    return { server: used.reduce((sum, one) => sum + one, 0), postgres, redis }
  }

  async function spentBy(work: () => Promise<unknown>): Promise<Cost> {
    const before = await spent()
    await work()
    const after = await spent()
    const [server, postgres, redis] = [after.server - before.server, after.postgres - before.postgres, after.redis - before.redis]
    return layout.isShared ? { server, postgres, redis } : { server, postgres: 0, redis: 0 }
  }

  /** Of new accounts: none of their local ids is known. */
  async function openLoads(batch: number) {
    const opened = Array.from({ length: accounts }, async (_, number) => {
      const token = await openAccount(urlOf(number))
      const session = await openSession(urlOf(number), token)
      const target = { port: portOf(number), token, tokens: [token], session }
      return openLoad(target, { ...shape, batch, listenPort: portOf(number + 1) })
    })
    const loads = await Promise.all(opened)
    return {
      run: (messages: number) => Promise.all(loads.map(load => load.run(messages / accounts))),
      close: () => Promise.all(loads.map(load => load.close()))
    }
  }

  return {
    store,
    async measure({ batch, messages }: { batch: number; messages: number }): Promise<Figures> {
      // Each instance gets the same warm-up, however many there are.
      const warmUp = await openLoads(batch)
      await warmUp.run((servers.length * messages) / 4)
      await warmUp.close()
      // New connections: the server closes those of accounts that were done long before the others.
      const loads = await openLoads(batch)
      const before = await engines.bytes()
      const { server, postgres, redis } = await spentBy(() => loads.run(messages))
      const after = await engines.bytes()
      await loads.close()
      return {
        cost: { server: server / messages, postgres: postgres / messages, redis: redis / messages },
        bytes: {
          wal: (after.wal - before.wal) / messages,
          redisIn: (after.redisIn - before.redisIn) / messages,
          redisOut: (after.redisOut - before.redisOut) / messages
        }
      }
    },
    async connect(connections: number): Promise<void> {
      const tokens: string[] = []
      while (tokens.length < idle.accounts) tokens.push(await openAccount(urlOf(tokens.length)))
      for (let number = 0; number < connections; number++) {
        // The two connections of an account are at different instances, as a wrapper's and a phone's may be.
        const port = portOf(number + Math.floor(number / idle.accounts))
        await openRawSocket({ port, auth: { token: tokens[number % tokens.length] ?? '', clientType: 'user-scoped' } })
      }
    },
    spentBy,
    close: () => Promise.all(servers.map(server => server.stop()))
  }
}

/** What instances spend while nothing happens, without connections and with. */
async function printIdle(engines: Engines, layout: Layout): Promise<void> {
  const world = await openWorld(engines, layout)
  const wait = () => new Promise(resolve => setTimeout(resolve, idle.seconds * 1_000))
  const shown = ({ server, postgres, redis }: Cost) =>
    [server, postgres, redis].map(us => ((us / 1_000) * (60 / idle.seconds)).toFixed(0)).join(', ')
  // What the start left to do.
  await wait()
  const alone = await world.spentBy(wait)
  await world.connect(idle.connections)
  const full = await world.spentBy(wait)
  await world.close()
  console.log(`    ${layout.name.padEnd(24)} servers, PostgreSQL, Redis: ${shown(alone)} alone   ${shown(full)} with them`)
}
