import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { citedIds, idsIn, provedByScripts, rules, unproved } from './kit/promises.ts'

const root = join(import.meta.dirname, '..')
t.test('every rule has a test that names it, or names the script that proves it', async t => {
  const cited = citedIds()
  for (const { id, section, text } of rules()) {
    if (unproved.includes(section)) continue
    if (section === provedByScripts) {
      const script = /`([\w/.-]+\.(?:ts|mjs))`/.exec(text)?.[1]
      t.ok(script !== undefined && existsSync(join(root, script)), `${id} names a script that is there`)
    } else {
      t.ok(cited.has(id), `${id} has a test`)
    }
  }
})

t.test('every rule named by a test exists', async t => {
  const known = new Set(rules().map(({ id }) => id))
  for (const [id, file] of citedIds()) t.ok(known.has(id), `${id} of ${file}`)
})

t.test('a rule has a unique name and is one or two sentences', async t => {
  const ids = rules().map(({ id }) => id)
  t.ok(ids.length > 80, `${ids.length} rules`)
  t.same(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    []
  )
  for (const { id, text } of rules()) t.match(text, /^[A-Z].*\.$/, `${id} is a sentence`)
})

t.test('names are found in every notation of a title', async t => {
  t.same(idsIn("t.test('once [X1]', …"), ['X1'])
  t.same(idsIn('t.test(`twice [X1, A10]`, …'), ['X1', 'A10'])
  t.same(idsIn("  'a title of a table [O4] [I3]',"), ['O4', 'I3'])
  t.same(idsIn("  ['fsync', '[F2]'],"), ['F2'])
  t.same(idsIn('// the rule [X1] holds'), [])
  t.same(idsIn("const row = table['X1']"), [])
})
