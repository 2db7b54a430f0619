// The negative control of the fault points, loaded into the server with --import: a message and its session's counter are
// two transactions instead of one.
import Database from 'better-sqlite3'

const { prepare } = Database.prototype

Database.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest)
  if (!sql.startsWith('UPDATE session SET last_seq')) return statement
  return {
    run: (...values) => {
      this.exec('COMMIT; BEGIN IMMEDIATE')
      return statement.run(...values)
    }
  }
}
