// Spoils the promise on purpose: commits are written and not synced, so that power loss takes them.
import Database from 'better-sqlite3'

const { pragma } = Database.prototype
Database.prototype.pragma = function (source, options) {
  if (/^synchronous\s*=/.test(source)) return pragma.call(this, 'synchronous = OFF', options)
  // The server reads back what it asked for, and would not start.
  if (source === 'synchronous') return 2
  return pragma.call(this, source, options)
}
