import t from 'tap'
import { diffContent, isRecord, longestDiffSide, textContent } from '../../../lib/wrapper/agents/step-content.ts'

t.test('a long text keeps its beginning and its end, and says how much is missing', t => {
  const half = 32 * 1024
  const fits = `${'a'.repeat(half)}${'z'.repeat(half)}`
  t.same(textContent(fits), { type: 'text', text: fits })
  const beginning = 'a'.repeat(half)
  const end = 'z'.repeat(half)
  t.same(textContent(`${beginning}left out${end}`), {
    type: 'text',
    text: `${beginning}\n… 8 characters left out …\n${end}`
  })
  t.end()
})

t.test('a change is shown unless one of its sides is too large', t => {
  const most = 'x'.repeat(longestDiffSide)
  const tooLarge = { type: 'text', text: '/a/b.txt: too large to show here.' }
  t.equal(longestDiffSide, 512 * 1024)
  t.same(diffContent('/a/b.txt', most, 'new'), { type: 'diff', path: '/a/b.txt', oldText: most, newText: 'new' })
  t.same(diffContent('/a/b.txt', null, most), { type: 'diff', path: '/a/b.txt', oldText: null, newText: most })
  t.same(diffContent('/a/b.txt', `${most}x`, 'new'), tooLarge)
  t.same(diffContent('/a/b.txt', null, `${most}x`), tooLarge)
  t.end()
})

t.test('only an object with names is a record', t => {
  t.ok(isRecord({}))
  for (const other of [null, undefined, [], 'text', 1]) t.notOk(isRecord(other))
  t.end()
})
