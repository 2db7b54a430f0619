import type { Database } from 'better-sqlite3'

/** Tables of which one account may have millions of rows. Nothing refers to them, and nothing finds them without its account. */
const large = [
  { table: 'message', atATime: 1_000 },
  { table: 'attachment_piece', atATime: 32 }
] as const

/** What is left of removed accounts, which goes a little at a time, so that nobody waits for the end of a huge one. */
export interface Leftovers {
  readonly tables: readonly string[]
  /** Removes the first of what an account has, and notes it when there may be more; as part of the caller's transaction. */
  leave(account: number): void
  /** Removes the next of what is left, as part of the caller's transaction; false when nothing was. */
  sweep(): boolean
}

export function leftovers(database: Database): Leftovers {
  const next = database.prepare<[], number>('SELECT account FROM leftover LIMIT 1').pluck()
  const note = database.prepare<[number]>('INSERT INTO leftover (account) VALUES (?) ON CONFLICT DO NOTHING')
  const forget = database.prepare<[number]>('DELETE FROM leftover WHERE account = ?')
  const removals = large.map(({ table, atATime }) => {
    const removal = database.prepare<[number, number]>(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE account = ? LIMIT ?)`
    )
    return (account: number) => removal.run(account, atATime).changes === atATime
  })
  const removeSome = (account: number) => removals.map(remove => remove(account)).includes(true)

  return {
    tables: large.map(({ table }) => table),
    leave(account) {
      if (removeSome(account)) note.run(account)
    },
    sweep() {
      const account = next.get()
      if (account === undefined) return false
      if (!removeSome(account)) forget.run(account)
      return true
    }
  }
}
