import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Postgres, startPostgres } from '../../test/kit/postgres.ts'
import { type Redis, startRedis } from '../../test/kit/redis.ts'
import { cpuOf, cpuWithChildren } from './other-process.ts'

/** A PostgreSQL and a Redis of this bench, with what they have used so far. */
export interface Engines {
  postgres: Postgres
  redis: Redis
  /** Processor time of all processes of PostgreSQL, and of Redis, in microseconds. */
  cpuUs(): { postgres: number; redis: number }
  /** Bytes that PostgreSQL wrote to its log, and that went into and out of Redis. */
  bytes(): Promise<{ wal: number; redisIn: number; redisOut: number }>
  /** The size of the messages of a database with their indexes, for each of them. */
  bytesOfMessage(database: string): Promise<number>
  close(): Promise<void>
}

export async function startEngines(where: 'memory' | 'disk'): Promise<Engines> {
  const closings: (() => unknown)[] = []
  const t = { teardown: (close: () => unknown) => void closings.unshift(close) }
  const postgres = await startPostgres(t, { max_connections: '300', max_wal_size: '8GB' }, where)
  const redis = await startRedis(t)
  const postmaster = await postmasterOf(postgres)
  const redisProcess = await redisNumber('server', 'process_id')

  async function redisNumber(section: string, name: string): Promise<number> {
    return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.ask('INFO', section))?.[1])
  }

  return {
    postgres,
    redis,
    cpuUs: () => ({ postgres: 1_000 * cpuWithChildren(postmaster), redis: 1_000 * cpuOf(redisProcess) }),
    async bytes() {
      const [log] = await postgres.query<{ bytes: string }>("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes")
      return {
        wal: Number(log?.bytes),
        redisIn: await redisNumber('stats', 'total_net_input_bytes'),
        redisOut: await redisNumber('stats', 'total_net_output_bytes')
      }
    },
    async bytesOfMessage(database) {
      const [size] = await postgres.query<{ bytes: number }>(
        "SELECT (pg_total_relation_size('message') / (SELECT count(*) FROM message))::integer AS bytes",
        basename(database)
      )
      return Number(size?.bytes)
    },
    async close() {
      for (const close of closings) await close()
    }
  }
}

/** The process from which all others of a PostgreSQL are started. */
export async function postmasterOf(postgres: Postgres): Promise<number> {
  const [at] = await postgres.query<{ data_directory: string }>('SHOW data_directory')
  return Number.parseInt(readFileSync(join(at?.data_directory ?? '', 'postmaster.pid'), 'utf8'), 10)
}
