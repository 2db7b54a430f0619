import { setTimeout as pause } from 'node:timers/promises'
import { CannotStart, exitCodes } from '../../lib/exit.ts'
import type { Migration, Schema } from '../../lib/store/migrate.ts'
import type { Connection } from './connection.ts'
import type { Queries } from './deps.ts'
import { verdictOn } from './failure.ts'
import { patienceMs } from './patience.ts'
import { storeTime } from './time.ts'

/**
 * While a step waits for the lock of a table, everybody who comes later waits behind it, also to read. So it waits for less
 * than they do, and leaves them a while before it tries again.
 */
const lockWithinMs = patienceMs / 3
const pauseMs = 500
/** Longer than any transaction of an instance; a dump of the database may take longer. */
const giveUpAfterMs = 60_000

/** `number` is that of the last step applied, 0 for an empty database; a program must know the steps up to `needs`. */
export interface StoredSchema {
  number: number
  needs: number
}

/** Throws `CannotStart` for a database of another program. */
export async function readSchema(connection: Queries, place: string): Promise<StoredSchema> {
  const found = await connection.get<{ isOurs: boolean; tables: number }>(
    `SELECT to_regclass('migration') IS NOT NULL AND to_regclass('epoch') IS NOT NULL AS "isOurs",
       (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')) AS tables`,
    []
  )
  if (found?.isOurs) return readApplied(connection)
  if (found && found.tables > 0) throw new CannotStart(`The database ${place} is not one of Afield; choose an empty one.`)
  return { number: 0, needs: 0 }
}

async function readApplied(connection: Queries): Promise<StoredSchema> {
  const applied = await connection.get<StoredSchema>(
    'SELECT coalesce(max(number), 0) AS number, coalesce(max(needs), 0) AS needs FROM migration',
    []
  )
  return applied ?? { number: 0, needs: 0 }
}

/** Throws `CannotStart` if a program that knows the steps up to `known` cannot use the database, which newer programs changed. */
export async function refuseOutdated(connection: Queries, known: number, place: string): Promise<void> {
  const { number, needs } = await readSchema(connection, place)
  if (needs <= known) return
  throw new CannotStart(
    `The database ${place} was written by a newer Afield (schema ${number}, this one knows ${known}); install that version or a later one.`
  )
}

// Instances that run look at the schema whenever they connect. So once the old ones can no longer use it, all must connect
// again. In one message with the commit: the database does both, or neither, whatever happens to this process.
const commitAndReconnectAll = `
  COMMIT;
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user
    AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()`

/** Throws `CannotStart` if other programs do not let go of a table; nothing of the steps is done then. */
export function schemaOf(connection: Connection, place: string, { withinMs = giveUpAfterMs } = {}): Schema {
  return {
    version: async () => (await readSchema(connection, place)).number,
    async apply(steps) {
      for (const until = performance.now() + withinMs; ; await pause(pauseMs)) {
        try {
          return await applyAll(connection, steps)
        } catch (error) {
          if (!isInTheWay(error)) throw error
          if (performance.now() >= until) throw inUse(place, steps, error)
        }
      }
    }
  }
}

async function applyAll(connection: Connection, steps: readonly Migration[]): Promise<void> {
  await connection.command(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${lockWithinMs}`)
  try {
    for (const { number, name, sql, needs = 1 } of steps) {
      await connection.command(sql)
      await connection.run(`INSERT INTO migration (number, name, needs, applied_at) VALUES ($1, $2, $3, ${storeTime})`, [
        number,
        name,
        needs
      ])
    }
    await connection.command(steps.some(({ needs = 1 }) => needs > 1) ? commitAndReconnectAll : 'COMMIT')
  } catch (error) {
    await connection.command('ROLLBACK').catch(() => {})
    throw error
  }
}

/** A lock that was not to be had in time, or not in this order. */
function isInTheWay(error: unknown): boolean {
  const verdict = verdictOn(error)
  return verdict === 'slow' || verdict === 'again'
}

function inUse(place: string, steps: readonly Migration[], cause: unknown): CannotStart {
  const names = steps.map(({ number, name }) => `${number} ${name}`).join(', ')
  return new CannotStart(
    `The schema of the database ${place} cannot be changed (${names}) while another program holds its tables; end long transactions, such as a running pg_dump, and start again.`,
    exitCodes.storage,
    { cause }
  )
}
