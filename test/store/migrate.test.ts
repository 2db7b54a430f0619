import t from 'tap'
import { type Migration, migrate, neededBy, readMigrations } from '../../lib/store/migrate.ts'

const step = (number: number): Migration => ({ number, name: `step_${number}`, sql: '' })

t.test('only missing steps are applied, in order, each alone, or all at once to a new database [L2]', async t => {
  for (const [applied, expected] of [
    [0, [[1, 2, 3]]],
    [1, [[2], [3]]],
    [2, [[3]]],
    [3, []]
  ] as const) {
    const done: number[][] = []
    await migrate([step(1), step(2), step(3)], {
      version: async () => applied,
      apply: async steps => {
        done.push(steps.map(({ number }) => number))
      }
    })
    t.same(done, expected)
  }
})

t.test('the bundled steps are numbered without a gap', async t => {
  const steps = readMigrations('sqlite/')
  t.match(steps[0], { number: 1, name: 'start', sql: /CREATE TABLE message/ })
  t.same(
    steps.map(({ number }) => number),
    steps.map((_, index) => index + 1)
  )
  t.throws(() => readMigrations('docs/'), /No migrations/)
})

t.test('what a step needs is said in its first line, and anywhere else or otherwise is an error [L4]', async t => {
  t.equal(neededBy('-- needs 4\nDROP TABLE kv;', '0005_less.sql'), 4)
  t.equal(neededBy('-- needs 4\r\nDROP TABLE kv;', '0005_less.sql'), 4)
  t.equal(neededBy('-- A program needs to know `needs`.\nCREATE TABLE mood (needs bigint);', '0002_more.sql'), undefined)
  for (const sql of [
    'DROP TABLE kv;\n-- needs 4',
    '-- needs 4\n-- needs 5',
    '\n-- needs 4',
    ' -- needs 4',
    '--needs 4',
    '-- needs four',
    '-- needs: 4',
    '-- Needs 4'
  ])
    t.throws(
      () => neededBy(sql, '0005_less.sql'),
      { message: /^Migration 0005_less\.sql must say "-- needs <number>" in its first line/ },
      sql
    )
})
