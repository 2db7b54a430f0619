import { CannotStart } from '../../lib/exit.ts'
import { readMigrations } from '../../lib/store/migrate.ts'
import { Connection } from './connection.ts'
import { flawIn, isUnfinished, placeOf, readFooting } from './database.ts'
import { cannotOpen } from './open-error.ts'
import { readSchema } from './schema.ts'

/** What can be seen of a database without writing to it; undefined while it is empty. Throws `CannotStart` if it cannot be reached. */
export async function inspect(
  url: string
): Promise<{ schema: number; neededSchema: number; newestSchema: number; flaw: string | undefined; isUnfinished: boolean } | undefined> {
  const place = placeOf(url)
  const newestSchema = readMigrations('postgres/').length
  let connection: Connection | undefined
  try {
    connection = await Connection.open(url)
    const flaw = flawIn(await readFooting(connection))
    const { number: schema, needs: neededSchema } = await readSchema(connection, place)
    if (schema === 0 && flaw === undefined) return undefined
    return { schema, neededSchema, newestSchema, flaw, isUnfinished: await isUnfinished(connection) }
  } catch (error) {
    throw error instanceof CannotStart ? error : cannotOpen(place, error)
  } finally {
    await connection?.close()
  }
}
