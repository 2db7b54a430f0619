import type { Database } from 'better-sqlite3'

/** The epoch of the database. */
export function readEpoch(database: Database): () => string {
  const read = database.prepare<[], string>('SELECT id FROM epoch WHERE only = 1').pluck()
  return () => {
    const epoch = read.get()
    if (epoch === undefined) throw new Error('The database has no epoch')
    return epoch
  }
}

/**
 * Starts another one and returns its id. Called when an older copy replaces a database, before it is
 * served.
 */
export function renewEpoch(database: Database): string {
  const renew = database.prepare<[], string>('UPDATE epoch SET id = lower(hex(randomblob(12))) WHERE only = 1 RETURNING id').pluck()
  const epoch = renew.get()
  if (epoch === undefined) throw new Error('The database has no epoch')
  return epoch
}
