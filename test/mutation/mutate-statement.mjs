// Loaded with --import: one statement of the store is prepared as AFIELD_MUTANT says instead of as it is written.
import Database from 'better-sqlite3'

const { prepare } = Database.prototype
const { sql: original, mutated } = JSON.parse(process.env.AFIELD_MUTANT)

Database.prototype.prepare = function (sql, ...rest) {
  return prepare.call(this, sql === original ? mutated : sql, ...rest)
}
