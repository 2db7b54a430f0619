import { join } from 'node:path'
import Database from 'better-sqlite3'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openDatabase } from '../../sqlite/file/database.ts'
import { storeIn } from '../../sqlite/store.ts'

/** A statement of the store without one of the predicates that say whose rows it is about. */
export interface Mutant {
  sql: string
  mutated: string
}

/** Every statement of the SQLite store. */
export async function statementsOfStore(dataDirectory: string): Promise<string[]> {
  const { prepare } = Database.prototype
  const texts = new Set<string>()
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    texts.add(sql)
    return prepare.call(this, sql)
  } as typeof prepare
  try {
    const file = join(dataDirectory, 'afield.db')
    const { database, close } = await openDatabase(file, { dataDirectory, clock: Date.now, migrations: readMigrations('sqlite/') })
    await storeIn(database, close, { file, dataDirectory, onBroken() {}, clock: Date.now }).close()
  } finally {
    Database.prototype.prepare = prepare
  }
  return [...texts].toSorted()
}

const ownership = /(?:\w+\.)?account = (?:\?|:account|\(SELECT key FROM account WHERE id = \?\))/g
const ownRow = /(?:FROM|UPDATE) account .*?WHERE ((?:id|key) = \?)(?: RETURNING \w+)?$/s
/** A key inside the database belongs to one account, and was found or is being found under it: a second lock on the same door. */
const innerKey = /^[^()]* AND (?:\w+\.)?(?:session|machine|device|attachment|key) = (\?|:key|:id|\()/

/** What these find is read again under the account, which finds nothing that is not its own. */
const readAgain = ['SELECT name FROM kv WHERE account = (SELECT key FROM account WHERE id = ?) AND clock = ?']

/** About accounts that are no more: nobody can ask. */
const ofNobody = ['DELETE FROM leftover WHERE kind = :kind AND key = :key']
/** Looks how much there is to remove; which rows go, the statement that removes them says. */
const isLook = (sql: string) => / LIMIT 100$/.test(sql)

interface Span {
  from: number
  to: number
}

/**
 * Each way to lose the predicates on one door. The parameters stay as they are, and each takes any value. A predicate
 * beside the inner key of a row is lost together with the one that finds this key.
 */
export function mutantsOf(sql: string): Mutant[] {
  if (readAgain.includes(sql) || ofNobody.includes(sql) || isLook(sql)) return []
  return doorsOf(sql).map(locks => ({ sql, mutated: locks.reduceRight(without, sql) }))
}

function doorsOf(sql: string): Span[][] {
  const spans = [...sql.matchAll(ownership)]
    .filter(({ index }) => !sql.slice(0, index).endsWith('SET '))
    .map(({ index, 0: predicate }) => ({ from: index, to: index + predicate.length }))
  const whole = spans.length === 0 ? ownRow.exec(sql)?.[1] : undefined
  if (whole !== undefined) return [[{ from: sql.lastIndexOf(whole), to: sql.lastIndexOf(whole) + whole.length }]]

  const doors: Span[][] = []
  for (let at = 0; at < spans.length; at += 1) {
    const span = spans[at]
    if (!span) break
    const [, key] = innerKey.exec(sql.slice(span.to)) ?? []
    const finder = spans[at + 1]
    if (key === '(' && finder) {
      doors.push([span, finder])
      at += 1
    } else if (key === undefined) {
      doors.push([span])
    }
  }
  return doors
}

function without(sql: string, { from, to }: Span): string {
  return `${sql.slice(0, from)}${sql.slice(from, to).includes(':account') ? ':account' : '?'} IS NOT NULL${sql.slice(to)}`
}
