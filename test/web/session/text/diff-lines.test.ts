import t from 'tap'
import { countChanges, diffFile } from '../../../../web/session/text/diff-lines.ts'

t.test('a changed word is marked in both lines', async t => {
  const diff = diffFile("a\n  return redirect('/home')\nb\n", 'a\n  return redirect(target)\nb\n')
  const lines = diff?.hunks[0]?.lines ?? []
  t.same(lines.map(line => line.sign).join(''), ' -+ ')
  const marked = (line: (typeof lines)[number] | undefined) => line?.marks.map(({ from, to }) => line.text.slice(from, to))
  t.same(marked(lines[2]), ['target'])
  t.equal(diff?.added, 1)
  t.equal(lines[1]?.number, 2)
})

t.test('part of a file has no line numbers, a new file has', async t => {
  t.equal(diffFile('const a = 1', 'const a = 2')?.hunks[0]?.lines[0]?.number, undefined)
  t.same(
    diffFile(null, 'x\ny\n')?.hunks[0]?.lines.map(line => line.number),
    [1, 2]
  )
  t.equal(diffFile(null, 'x\ny\n')?.kind, 'new')
  t.equal(diffFile('x\n', '')?.kind, 'deleted')
})

t.test('lines with nothing in common have no marks', async t => {
  const diff = diffFile('alpha beta gamma\n', 'one two three four\n')
  t.same(
    diff?.hunks[0]?.lines.flatMap(line => line.marks),
    []
  )
})

t.test('an added line is marked as the new version of one removed line only', async t => {
  const lines = diffFile('send the red box\nsend the blue box\n', 'send the green box\n')?.hunks[0]?.lines ?? []
  t.same(
    lines.map(({ sign, marks, text }) => [sign, ...marks.map(({ from, to }) => text.slice(from, to))]),
    [['-', 'red'], ['-'], ['+', 'green']]
  )
})

t.test('unchanged lines between two changes are left out and counted', async t => {
  const old = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n')
  const diff = diffFile(`${old}\n`, `${old.replace('line 2\n', 'line two\n').replace('line 30\n', 'line thirty\n')}\n`)
  t.equal(diff?.hunks.length, 2)
  t.equal(diff?.hunks[1]?.skippedBefore, 21)
})

/** The marked parts of each changed line. */
const marksOf = (before: string, after: string) =>
  (diffFile(before, after)?.hunks[0]?.lines ?? []).map(({ sign, marks, text }) => [
    sign,
    ...marks.map(({ from, to }) => text.slice(from, to))
  ])

t.test('changed words beside each other are one mark, and the spaces around them are not marked', async t => {
  t.same(marksOf('please send the red box to me today\n', 'please send the green bag to me today\n'), [
    ['-', 'red box'],
    ['+', 'green bag']
  ])
  t.same(marksOf('send the red box to me today\n', 'send a red box to you today\n'), [
    ['-', 'the', 'me'],
    ['+', 'a', 'you']
  ])
  t.same(marksOf('send  it today\n', 'send it today\n'), [['-'], ['+']], 'spaces alone')
  t.same(marksOf('send it today\n', 'send it very soon today\n'), [['-'], ['+', 'very soon']])
})

t.test('a whole file is one hunk of lines without marks', async t => {
  const line = (sign: '+' | '-', number: number, text: string) => ({ sign, number, text, marks: [] })
  const hunk = { skippedBefore: 0, oldStart: 1, newStart: 1 }
  t.strictSame(diffFile(null, 'x\n\ny'), {
    ...{ hunks: [{ lines: [line('+', 1, 'x'), line('+', 2, ''), line('+', 3, 'y')], ...hunk }], added: 3, removed: 0 },
    kind: 'new'
  })
  t.strictSame(diffFile('x\n', ''), { hunks: [{ lines: [line('-', 1, 'x')], ...hunk }], added: 0, removed: 1, kind: 'deleted' })
  t.strictSame(diffFile(null, ''), { hunks: [], added: 0, removed: 0, kind: 'new' })
})

t.test('the lines of a change are counted, whatever the text was before', async t => {
  const counted = (before: string | null) => {
    const { added, removed } = countChanges(before, 'b\nc\n') ?? {}
    return [added, removed]
  }
  for (let times = 0; times < 2; times++) {
    t.same(counted('a\nc\n'), [1, 1])
    t.same(counted(null), [2, 0])
    t.same(counted('b\nc\n'), [0, 0])
    t.same(counted('a\n'), [2, 1])
  }
  t.same(countChanges('b\nc\n', ''), { oldText: 'b\nc\n', added: 0, removed: 2 })
})

t.test('the lines of a change are counted once, and only the latest are remembered', async t => {
  const first = countChanges('a\n', 'b\nc\n')
  t.match(first, { added: 2, removed: 1 })
  t.equal(countChanges('a\n', 'b\nc\n'), first)
  t.match(countChanges(null, 'b\nc\n'), { added: 2, removed: 0 }, 'from another text it is another change')
  const again = countChanges('a\n', 'b\nc\n')
  for (let index = 0; index < 500; index++) countChanges(null, `${index}\n`)
  t.not(countChanges('a\n', 'b\nc\n'), again)
})
