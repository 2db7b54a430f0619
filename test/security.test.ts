import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hasTest, provedByScripts, rules, unproved } from './kit/promises.ts'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/security.md'), 'utf8')
const [threats = '', requirements = ''] = page.split(/^## OWASP ASVS .*$/m)

/** A result begins with one of these; what is not met says what would meet it. */
const results = ['Met: ', 'Not met: ', 'Not shown: ', 'Does not apply: ']

t.test('every test that docs/security.md names exists', async t => {
  const named = [...page.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, title = '', file = '']) => ({ title, file }))
  t.ok(named.length > 100, `${named.length} tests`)
  t.same(
    named.filter(({ title, file }) => !hasTest(file, title)),
    []
  )
})

t.test('every rule that it names has tests', async t => {
  const tested = new Set(
    rules()
      .filter(({ section }) => section !== provedByScripts && !unproved.includes(section))
      .map(({ id }) => id)
  )
  const named = rulesIn(page.slice(page.indexOf('## Who attacks')))
  t.ok(named.length > 100, `${named.length} rules`)
  t.same(
    named.filter(id => !tested.has(id)),
    []
  )
})

t.test('every threat names a test or says that none shows it', async t => {
  const rows = rowsOf(threats.split(/^## /m)[1] ?? '')
  t.ok(rows.length > 20, `${rows.length} threats`)
  for (const [, tries = '', , shown = ''] of rows) t.ok(isEvidence(shown) || /^(the same|not shown)/.test(shown), tries)
})

t.test('every requirement of ASVS 5.0 at levels 1 and 2 has one row', async t => {
  const levels: Record<string, string> = JSON.parse(readFileSync(join(root, 'test/fixtures/asvs-5.0.0.json'), 'utf8'))
  const asked = Object.entries(levels).flatMap(([section, digits]) =>
    [...digits].flatMap((level, index) => (level === '3' ? [] : [`${section}.${index + 1}`]))
  )
  t.equal(asked.length, 70 + 183)
  const answered = rowsOf(requirements).flatMap(([ids = '']) => ids.split(', ').flatMap(id => expand(id, asked)))
  t.same(answered.toSorted(), asked.toSorted())
})

t.test('each has a result: met with what shows it, or why not and what would meet it', async t => {
  for (const [ids = '', , result = ''] of rowsOf(requirements)) {
    t.ok(
      results.some(start => result.startsWith(start)),
      ids
    )
    if (result.startsWith('Met: '))
      t.ok(isEvidence(result) || /\]\([^)]*(\.md|#)/.test(result), `${ids} is shown by a test, a rule or a page`)
    if (result.startsWith('Not met: ')) t.match(result, / would meet it(?=[.,;]|$)/, ids)
  }
})

/** The cells of each row of its tables, without the heads. */
function rowsOf(text: string): string[][] {
  const rows = [...text.matchAll(/^\|(.*)\|$/gm)].map(([, row = '']) => row.split('|').map(cell => cell.trim()))
  return rows.filter(([first = '']) => !/^(---|requirement|who)$/.test(first))
}

/** `3.3.*` and `9.*` stand for all of a section or chapter. */
function expand(id: string, asked: readonly string[]): string[] {
  if (!id.endsWith('.*')) return [id]
  return asked.filter(each => each.startsWith(id.slice(0, -1)))
}

function isEvidence(text: string): boolean {
  return rulesIn(text).length > 0 || /\]\(\.\.\/test\//.test(text)
}

function rulesIn(text: string): string[] {
  return text.replace(/\]\([^)]*\)/g, ']').match(/(?<![\w.-])[A-Z]\d{1,2}(?![\w.-]*\w)/g) ?? []
}
