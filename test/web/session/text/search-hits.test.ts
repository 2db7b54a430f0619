import t from 'tap'
import { hitsOf } from '../../../../web/session/text/search-hits.ts'

t.test('search results are grouped by file, in order', t => {
  t.strictSame(hitsOf('src/a.ts:12:  returnTo\nsrc/b.ts:3:4:returnTo()\n--\nsrc/a.ts:40:x: y\n'), [
    {
      file: 'src/a.ts',
      hits: [
        { line: 12, text: '  returnTo' },
        { line: 40, text: 'x: y' }
      ]
    },
    { file: 'src/b.ts', hits: [{ line: 3, text: 'returnTo()' }] }
  ])
  t.strictSame(hitsOf('C:\\code\\a.ts:1:x'), [{ file: 'C:\\code\\a.ts', hits: [{ line: 1, text: 'x' }] }])
  t.end()
})

t.test('output that is not such a list is shown as is', t => {
  for (const text of ['', 'Found 4 files\nsrc/a.ts', 'src/a.ts:12: x\nand more', 'No matches found', '12:x'])
    t.equal(hitsOf(text), undefined, text)
  t.end()
})
