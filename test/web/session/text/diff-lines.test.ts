import t from 'tap'
import { readAnsi } from '../../../../web/session/text/ansi.ts'
import { diffFile } from '../../../../web/session/text/diff-lines.ts'
import { highlightLine } from '../../../../web/session/text/highlight.ts'

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

t.test('terminal colours become classes, other escape sequences are removed', async t => {
  t.same(readAnsi('\u001b[32m✓\u001b[39m ok\u001b[2K\u001b]0;title\u0007!'), [
    [
      { text: '✓', look: 'a-ok' },
      { text: ' ok', look: '' },
      { text: '!', look: '' }
    ]
  ])
  t.same(readAnsi('10 %\r50 %\r100 %\ndone'), [[{ text: '100 %', look: '' }], [{ text: 'done', look: '' }]])
  t.same(readAnsi('\u001b[1;31mbad\u001b[0m\u001b[38;5;2mgreen'), [
    [
      { text: 'bad', look: 'a-no a-bold' },
      { text: 'green', look: 'a-ok' }
    ]
  ])
  t.same(
    readAnsi('\u001b[1mbold\u001b[31mred\u001b[22mplain\nnext'),
    [
      [
        { text: 'bold', look: 'a-bold' },
        { text: 'red', look: 'a-no a-bold' },
        { text: 'plain', look: 'a-no' }
      ],
      [{ text: 'next', look: 'a-no' }]
    ],
    'what one sequence leaves out stays as it was'
  )
  t.same(readAnsi('a\u001b'), [[{ text: 'a', look: '' }]])
})

t.test('each colour of a terminal has its class, a background has none and hides nothing', t => {
  const esc = '\u001b'
  const looks: [codes: string, look: string][] = [
    ['', ''],
    ['0', ''],
    ['1', 'a-bold'],
    ['2', 'a-dim'],
    ['1;2;22', ''],
    ['29', ''],
    ['30', ''],
    ['31', 'a-no'],
    ['36', 'a-fn'],
    ['37', ''],
    ['32;39', ''],
    ['90', 'a-dim'],
    ['91', 'a-no'],
    ['92', 'a-ok'],
    ['97', ''],
    ['31;97', ''],
    ['31;98', 'a-no'],
    ['38;5;3', 'a-warn'],
    ['38;5;15', ''],
    ['38;5;9', 'a-no'],
    ['31;38;5;16', ''],
    ['38:5:1', 'a-no'],
    ['32;48;5;1', 'a-ok'],
    ['48;5;1;1', 'a-bold'],
    ['32;48;2;31;1;2', 'a-ok'],
    ['38;2;31;1;2;33', 'a-warn']
  ]
  for (const [codes, look] of looks) t.same(readAnsi(`${esc}[${codes}mx`), [[{ text: 'x', look }]], codes)
  t.end()
})

t.test('a line too long to highlight is plain', t => {
  const line = (length: number) => 'if'.padEnd(length, ' ')
  t.equal(highlightLine(line(2000), 'ts')[0]?.look, 's-key')
  t.same(highlightLine(line(2001), 'ts'), [{ text: line(2001), look: '' }])
  t.end()
})

t.test('highlighted code keeps every character', async t => {
  for (const line of [
    "  return redirect('/home') // it's",
    'const a = "x\\"y" + 12.5',
    '# comment',
    '`$' + '{a}',
    'λ = 1',
    'if x then # y'
  ]) {
    for (const language of ['ts', 'sh', ''])
      t.equal(
        highlightLine(line, language)
          .map(span => span.text)
          .join(''),
        line
      )
  }
  t.match(highlightLine("return 'a' // c", 'ts'), [{ look: 's-key' }, { look: '' }, { look: 's-str' }, { look: '' }, { look: 's-com' }])
})
