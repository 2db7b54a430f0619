import { CannotStart } from '../../lib/exit.ts'
import type { Schema } from '../../lib/store/migrate.ts'
import type { Connection } from './connection.ts'
import type { Queries } from './deps.ts'
import { storeTime } from './time.ts'

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

export function schemaOf(connection: Connection, place: string): Schema {
  return {
    version: async () => (await readSchema(connection, place)).number,
    async apply(steps) {
      await connection.command('BEGIN; SET LOCAL statement_timeout = 0')
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
  }
}
