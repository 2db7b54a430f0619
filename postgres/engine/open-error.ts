import { CannotStart, exitCodes } from '../../lib/exit.ts'
import { ConnectionLost, codeOf, verdictOn } from './failure.ts'

/** Explains in one sentence why a database could not be opened; an unexpected error is returned as it is. */
export function cannotOpen(place: string, error: unknown): unknown {
  const cause = error instanceof ConnectionLost ? error.cause : error
  const code = codeOf(cause)
  const because = { cause }
  if (code === '28P01' || code === '28000') {
    return new CannotStart(`The database ${place} does not accept this user and password; check its URL.`, exitCodes.configuration, because)
  }
  if (code === '3D000') return new CannotStart(`There is no database ${place}; create it first.`, exitCodes.configuration, because)
  if (code === '42501') {
    return new CannotStart(
      `This user may not create tables in the database ${place}; make it the owner of the database.`,
      exitCodes.configuration,
      because
    )
  }
  if (code === 'ENOTFOUND') return new CannotStart(`The host of the database ${place} is unknown.`, exitCodes.configuration, because)
  if (code.startsWith('57P')) {
    return new CannotStart(`The server of the database ${place} is starting or stopping; start again soon.`, exitCodes.storage, because)
  }
  if (verdictOn(cause) === 'full') {
    return new CannotStart(`There is no space on the disk of the database ${place}; free some and start again.`, exitCodes.storage, because)
  }
  // The driver repeats the URL in its error.
  if (code === 'ERR_INVALID_URL')
    return new CannotStart('The URL of the database is not valid; use postgres://<user>:<password>@<host>/<database>.')
  if (!(cause instanceof Error) || 'severity' in cause) return cause
  return new CannotStart(
    `The database ${place} cannot be reached${code === '' ? '' : ` (${code})`}; check that it runs, and its URL.`,
    exitCodes.storage,
    because
  )
}
