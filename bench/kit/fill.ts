/** A database that rows are put into past its store. */
export interface Filling {
  run(sql: string): Promise<void>
  /** The first value of the first row. */
  value(sql: string): Promise<string>
  /** An expression for a new random local id. */
  newLocalId: string
  /** Where the definition of an index by its name is. */
  indexDefinition(name: string): string
}

/** Each account has equally many sessions, and each session equally many messages. */
export interface Amounts {
  accounts: number
  sessions: number
  messages: number
}

const mostAtOnce = 1_000_000
const byLocalId = 'message_by_local_id'

export const accountName = (number: number) => `account-${number}`
export const sessionName = (number: number) => `session-${number}`
/** Session n belongs to account n, and so on from the first account again; numbers begin with 1. */
export const accountOf = (session: number, { accounts }: Amounts) => ((session - 1) % accounts) + 1

/**
 * Fills an empty store as its own writes would, but set by set: ten million messages in minutes. Their checksums are not
 * computed, so none of them can be read; what a session has in lists is left out.
 */
export async function fill({ run, value, newLocalId, indexDefinition }: Filling, amounts: Amounts, textBytes: number): Promise<void> {
  const { accounts, sessions, messages } = amounts
  const [ofSession, ofAccount] = [messages / sessions, messages / accounts]
  if (!Number.isInteger(sessions / accounts) || !Number.isInteger(ofSession)) throw new Error('The amounts do not divide evenly')

  await run(`INSERT INTO account (key, id, public_key, clock, messages, bytes, created_at)
    SELECT n, 'account-' || n, 'key-' || n, ${ofAccount}, ${ofAccount}, ${ofAccount * textBytes}, 0 FROM ${series(1, accounts)}`)
  await run(`INSERT INTO session (key, account, id, tag, last_seq, bytes, clock, active, active_at, created_at, updated_at)
    SELECT n, (n - 1) % ${accounts} + 1, 'session-' || n, 'tag-' || n, ${ofSession}, ${ofSession * textBytes}, ${ofAccount}, false, 0, 0, 0
    FROM ${series(1, sessions)}`)

  // Built afterwards: one entry at a time, in random order, takes ten times as long.
  const definition = await value(indexDefinition(byLocalId))
  await run(`DROP INDEX ${byLocalId}`)
  for (let from = 1; from <= messages; from += mostAtOnce) {
    await run(`INSERT INTO message (account, session, seq, created_at, crc, local_id, sealed)
      SELECT (n - 1) % ${sessions} % ${accounts} + 1, (n - 1) % ${sessions} + 1, (n - 1) / ${sessions} + 1, 0, 0, ${newLocalId}, '${textOf(textBytes)}'
      FROM ${series(from, Math.min(messages, from + mostAtOnce - 1))}`)
  }
  await run(definition)
}

export function textOf(bytes: number): string {
  return 'QUJD'.repeat(bytes / 4)
}

function series(from: number, to: number): string {
  return `(WITH RECURSIVE series (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM series WHERE n < ${to}) SELECT n FROM series) AS series`
}
