/** The connection is of no more use: it broke, or the database is stopping, starting, or became read-only. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/**
 * What an error of a statement means: `refused` is an answer to the statement; `again`: the same transaction may
 * succeed when it is repeated, `lost`: on another connection; `slow`: it took too long.
 */
type Verdict = 'refused' | 'again' | 'lost' | 'slow' | 'full'

// Class 08: connections; 53: resources; 57P: the server is stopping or starting; 58: its system failed; 25006: it became
// read-only, as one does that another replaced; 25P03 and 25P04: it ended a transaction that took too long.
const lost = /^(08|53|57P|58|25006|25P03|25P04)/

export function verdictOn(error: unknown): Verdict {
  if (error instanceof ConnectionLost) return 'lost'
  const code = codeOf(error)
  if (code === '40001' || code === '40P01') return 'again'
  if (code === '53100') return 'full'
  if (code === '57014' || code === '55P03') return 'slow'
  // Another version of this program changed a table meanwhile.
  if (code === '0A000' && error instanceof Error && error.message.includes('cached plan')) return 'lost'
  return lost.test(code) ? 'lost' : 'refused'
}

/** The SQLSTATE of an error of the database, or the code of one of the system; empty for any other. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
