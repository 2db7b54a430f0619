import t from 'tap'
import { type DiffRow, pairsOf, rowsOf } from '../../../../web/session/text/diff-rows.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`
const shape = (rows: readonly DiffRow[] = []) =>
  rows.map(row =>
    row.type === 'fold'
      ? `fold ${row.at}+${row.count}`
      : `${row.line.sign}${row.line.oldNumber ?? '-'}:${row.line.newNumber ?? '-'} ${row.line.text}`
  )

t.test('unchanged lines are collapsed, before, between and after, and expand', async t => {
  const before = numbered(30)
  const after = before.with(9, 'changed').toSpliced(25, 0, 'new')
  const rows = rowsOf(text(before), text(after))
  t.match(rows, { added: 2, removed: 1 })
  t.same(shape(rows?.rows), [
    'fold 1+6',
    ' 7:7 line 7',
    ' 8:8 line 8',
    ' 9:9 line 9',
    '-10:- line 10',
    '+-:10 changed',
    ' 11:11 line 11',
    ' 12:12 line 12',
    ' 13:13 line 13',
    'fold 14+9',
    ' 23:23 line 23',
    ' 24:24 line 24',
    ' 25:25 line 25',
    '+-:26 new',
    ' 26:27 line 26',
    ' 27:28 line 27',
    ' 28:29 line 28',
    'fold 30+2'
  ])
  const opened = rowsOf(text(before), text(after), new Set([30, 1]))?.rows
  t.same(shape(opened).slice(-2), [' 29:30 line 29', ' 30:31 line 30'])
  t.equal(shape(opened)[0], ' 1:1 line 1')
})

t.test('files have line numbers even without a final newline', async t => {
  t.same(shape(rowsOf('a\nb', 'a\nc')?.rows), [' 1:1 a', '-2:- b', '+-:2 c'])
  t.same(shape(rowsOf('a\nb', 'a\nb\n')?.rows), [' 1:1 a', '-2:- b', '+-:2 b'])
})

t.test('a new file is all added, a removed one all removed, and an identical one has no rows', async t => {
  t.same(shape(rowsOf(null, 'a\nb\n')?.rows), ['+-:1 a', '+-:2 b'])
  t.same(shape(rowsOf('a\nb\n', null)?.rows), ['-1:- a', '-2:- b'])
  t.same(shape(rowsOf('a\n', '')?.rows), ['-1:- a'])
  t.same(rowsOf('a\n', 'a\n'), { rows: [], added: 0, removed: 0 })
  t.same(rowsOf(null, null), { rows: [], added: 0, removed: 0 })
})

t.test('side by side, a line is next to its replacement', async t => {
  const pairs = pairsOf(rowsOf('a\nb\nc\nd\n', 'a\nB\nd\ne\n')?.rows ?? [])
  t.same(
    pairs.map(row => (row.type === 'pair' ? [row.older?.text, row.newer?.text] : row)),
    [
      ['a', 'a'],
      ['b', 'B'],
      ['c', undefined],
      ['d', 'd'],
      [undefined, 'e']
    ]
  )
})
