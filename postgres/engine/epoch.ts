import type { Queries } from './deps.ts'

/** The epoch of the database. */
export async function readEpoch(queries: Queries): Promise<string> {
  const row = await queries.get<{ id: string }>('SELECT id FROM epoch', [])
  if (!row) throw new Error('The database has no epoch')
  return row.id
}
