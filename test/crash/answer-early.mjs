// The negative control of the crash harness, loaded into the server with --import: every answer and every frame leaves
// before its commit, which follows some time later. A server killed in between has promised what it does not have.
import Database from 'better-sqlite3'

const lateByMs = 40
const { prepare } = Database.prototype

Database.prototype.prepare = function (sql, ...rest) {
  const statement = prepare.call(this, sql, ...rest)
  if (sql === 'BEGIN IMMEDIATE') return { run: () => this.inTransaction || statement.run() }
  if (sql === 'COMMIT') return { run: () => commitLater(this, statement) }
  return statement
}

const waiting = new WeakSet()

function commitLater(database, commit) {
  if (waiting.has(database)) return
  waiting.add(database)
  setTimeout(() => {
    waiting.delete(database)
    if (database.inTransaction) commit.run()
  }, lateByMs)
}
