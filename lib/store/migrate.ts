import { listAssets, readAsset } from '../assets.ts'

/**
 * One step of a schema: `sqlite/0001_start.sql` is number 1, named start. A released step never changes.
 *
 * While the instances of a server are upgraded one by one, old ones use a PostgreSQL database that new ones have changed
 * already. So a step there only adds what older programs do not mind (a table, a column that is null or has a default, an index
 * that is not unique), and what they still use is removed by a later version: its step says in its first line, and nowhere
 * else, which step programs must know by then, as `-- needs 4`. That is at most the last step of the version before. Programs that know
 * fewer do not start any more, and those that run end.
 */
export interface Migration {
  number: number
  name: string
  sql: string
  /** The oldest program that can use the database after this step knows the steps up to this number; else 1. */
  needs?: number | undefined
}

/** A driver's side of it: `version` is the number of the last step applied, 0 for a new database. */
export interface Schema {
  version(): number | Promise<number>
  /**
   * Applies these steps and sets the version to the last, all in one transaction: an interrupted one
   * leaves none of them.
   */
  apply(steps: readonly Migration[]): void | Promise<void>
}

/**
 * Applies the steps a database does not have yet, in order. There is no downgrade. Each is atomic, so
 * that an interrupted start continues where it was; a new database, which has nothing to lose, gets
 * all of them at once and is synced once.
 */
export async function migrate(migrations: readonly Migration[], schema: Schema): Promise<void> {
  const applied = await schema.version()
  if (applied === 0) return schema.apply(migrations)
  for (const migration of migrations) {
    if (migration.number > applied) await schema.apply([migration])
  }
}

/** The bundled steps, in order; throws when a number is missing or used twice. */
export function readMigrations(folder: `${string}/`): Migration[] {
  const migrations = listAssets(folder).flatMap(name => readMigration(name.slice(folder.length), name))
  migrations.forEach(({ number, name }, index) => {
    if (number !== index + 1) throw new Error(`Migration ${name} has number ${number}, expected ${index + 1}`)
  })
  if (migrations.length === 0) throw new Error(`No migrations in ${folder}`)
  return migrations
}

function readMigration(file: string, asset: string): Migration[] {
  const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
  if (number === undefined || name === undefined) return []
  const sql = readAsset(asset)?.toString() ?? ''
  return [{ number: Number(number), name, sql, needs: neededBy(sql, file) }]
}

/** Throws if that line is not the first, or says something else: a step that narrows must not pass for one that only adds. */
export function neededBy(sql: string, file: string): number | undefined {
  const [first = '', ...others] = sql.split(/\r?\n/)
  const [, number] = /^-- needs (\d+)$/.exec(first) ?? []
  const mistaken = [...(number === undefined ? [first] : []), ...others].find(line => /^\s*--\s*needs\b/i.test(line))
  if (mistaken !== undefined) throw new Error(`Migration ${file} must say "-- needs <number>" in its first line only: ${mistaken}`)
  return number === undefined ? undefined : Number(number)
}
