import type { Connection } from './connection.ts'
import type { Queries } from './deps.ts'

/** The epoch of the database. */
export async function readEpoch(queries: Queries): Promise<string> {
  const row = await queries.get<{ id: string }>('SELECT id FROM epoch', [])
  if (!row) throw new Error('The database has no epoch')
  return row.id
}

/** The timeline of the server, which changes when a replica takes over or an older state is recovered: a name of WAL begins with it. */
const currentTimeline = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

// Not waiting for replicas: one that misses this has another timeline when it takes over, and a lack of replicas must not
// stop reads. Of several connections one finds the row with the old timeline.
const renew = `
  BEGIN;
  SET LOCAL synchronous_commit = local;
  UPDATE epoch SET timeline = ${currentTimeline},
    id = CASE WHEN timeline IS NULL THEN id ELSE substr(replace(gen_random_uuid()::text, '-', ''), 1, 24) END
  WHERE timeline IS DISTINCT FROM ${currentTimeline};
  COMMIT`

/** Before anything is read from a server that may lack what the one before it confirmed, the epoch changes, once. */
export async function followTimeline(connection: Connection): Promise<void> {
  const isOther = await connection.get(`SELECT FROM epoch WHERE timeline IS DISTINCT FROM ${currentTimeline}`, [])
  if (isOther) await connection.command(renew)
}
