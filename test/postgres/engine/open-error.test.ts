import t from 'tap'
import { CannotStart } from '../../../lib/exit.ts'
import { ConnectionLost } from '../../../postgres/engine/failure.ts'
import { cannotOpen } from '../../../postgres/engine/open-error.ts'

/** As the driver reports what the database said, or what the system did. */
const said = (code: string) => Object.assign(new Error('of the database'), { severity: 'FATAL', code })
const met = (code?: string) => Object.assign(new Error('of the system'), code !== undefined && { code })

// 78 is for people to repair; after 75 a service manager tries again.
const errors: [error: Error, exitCode: number, message: RegExp][] = [
  [said('28P01'), 78, /does not accept this user and password/],
  [said('28000'), 78, /does not accept this user and password/],
  [said('3D000'), 78, /^There is no database afield; create it first/],
  [said('42501'), 78, /make it the owner of the database/],
  [met('ENOTFOUND'), 78, /^The host of the database afield is unknown/],
  [met('ERR_INVALID_URL'), 78, /The URL of the database is not valid/],
  [said('57P01'), 75, /is starting or stopping; start again soon/],
  [said('57P03'), 75, /is starting or stopping; start again soon/],
  [said('53100'), 75, /^There is no space on the disk of the database afield/],
  [met('ECONNREFUSED'), 75, /cannot be reached \(ECONNREFUSED\); check that it runs/],
  [met(), 75, /cannot be reached; check that it runs/]
]

t.test('why a database cannot be opened is said in a sentence, with the code that says who can help', async t => {
  for (const [error, exitCode, message] of errors) {
    const direct = cannotOpen('afield', error)
    t.match(direct, { name: 'CannotStart', exitCode, message })
    if (!(direct instanceof CannotStart)) throw error
    t.match(cannotOpen('afield', new ConnectionLost('lost', { cause: error })), { message: direct.message, exitCode })
    // The driver repeats the URL in its error, and with it the password.
    t.equal(direct.cause, message.test('The URL of the database is not valid') ? undefined : error)
  }
})

t.test('what nobody expected stays as it is', async t => {
  for (const error of [said('42601'), 'no error']) t.equal(cannotOpen('afield', error), error)
})
