/** What a failed statement means for the store: only `refused` leaves the rest of the transaction intact. */
type Verdict = 'refused' | 'busy' | 'full' | 'broken'

const broken = ['SQLITE_IOERR', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_PROTOCOL']

export function verdictOn(error: unknown): Verdict {
  const code = codeOf(error)
  if (code === 'SQLITE_FULL') return 'full'
  if (code.startsWith('SQLITE_BUSY')) return 'busy'
  return broken.some(name => code.startsWith(name)) ? 'broken' : 'refused'
}

/** The code of a SQLite or system error, such as `SQLITE_FULL` or `EACCES`; empty for any other. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
