import t from 'tap'
import { seededRandom } from '../crash/random.ts'
import { sampleSeed } from '../kit/seed.ts'
import { isKilled } from './kill.ts'
import { mutantsOf, statementsOfStore } from './statements.ts'

// `npm run mutate` tries them all.
const { number: seed } = sampleSeed

t.test('a statement without its ownership predicate is noticed [I1]', async t => {
  const mutants = (await statementsOfStore(t.testdir())).flatMap(mutantsOf)
  t.ok(mutants.length > 40, `${mutants.length} mutants`)
  const mutant = seededRandom(seed).pick(mutants)
  t.ok(await isKilled(mutant), `seed ${seed}: ${mutant.mutated}`)
})

t.test('an unchanged statement does not count as a mutant', async t => {
  t.notOk(await isKilled({ sql: 'SELECT 1', mutated: 'SELECT 1' }))
})

t.test('predicates are found on their own, in sub-queries and on the account itself', async t => {
  const key = '(SELECT key FROM account WHERE id = ?)'
  const table: [sql: string, ...mutated: string[]][] = [
    [`DELETE FROM kv WHERE account = ${key} AND name = ?`, 'DELETE FROM kv WHERE ? IS NOT NULL AND name = ?'],
    ['SELECT seq FROM message WHERE account = ? AND session = ?'],
    [
      `DELETE FROM message WHERE account = ${key} AND session = (SELECT key FROM session WHERE account = ${key} AND id = ?)`,
      'DELETE FROM message WHERE ? IS NOT NULL AND session = (SELECT key FROM session WHERE ? IS NOT NULL AND id = ?)'
    ],
    [`UPDATE pairing SET account = ${key} WHERE kind = ?`],
    [
      'UPDATE account SET clock = clock + ? WHERE id = ? RETURNING clock',
      'UPDATE account SET clock = clock + ? WHERE ? IS NOT NULL RETURNING clock'
    ],
    [
      `SELECT 1 FROM session, machine WHERE session.account = ${key} AND session.id = ? AND machine.account = ${key} AND machine.id = ?`,
      `SELECT 1 FROM session, machine WHERE ? IS NOT NULL AND session.id = ? AND machine.account = ${key} AND machine.id = ?`,
      `SELECT 1 FROM session, machine WHERE session.account = ${key} AND session.id = ? AND ? IS NOT NULL AND machine.id = ?`
    ]
  ]
  for (const [sql, ...mutated] of table) {
    t.same(
      mutantsOf(sql).map(mutant => mutant.mutated),
      mutated,
      sql
    )
  }
})
