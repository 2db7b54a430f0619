import type { Queries } from './deps.ts'

/** The clock by which every instance agrees what is recent: milliseconds since 1970. */
export const storeTime = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

export async function readTime(queries: Queries): Promise<number> {
  const row = await queries.get<{ now: number }>(`SELECT ${storeTime} AS now`, [])
  if (!row) throw new Error('The database does not tell the time')
  return row.now
}
