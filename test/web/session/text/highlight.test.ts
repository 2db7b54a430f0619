import t from 'tap'
import { highlightLine, languageOf } from '../../../../web/session/text/highlight.ts'

const looks = (line: string, language = 'ts') =>
  highlightLine(line, language).map(({ text, look }) => (look === '' ? text : `${look} ${text}`))

const cases: readonly [line: string, language: string, spans: string[]][] = [
  ['const x = 12 // why', 'ts', ['s-key const', ' x = ', 's-num 12', ' ', 's-com // why']],
  ['f("a \\" b", \'c\', `d`) + 1', 'ts', ['f(', 's-str "a \\" b"', ', ', "s-str 'c'", ', ', 's-str `d`', ') + ', 's-num 1']],
  ['"not closed', 'ts', ['s-str "not closed']],
  ['a /* b */ c /* d', 'ts', ['a ', 's-com /* b */', ' c ', 's-com /* d']],
  [' * @param x', 'ts', ['s-com  * @param x']],
  ['<!-- a --> b', 'html', ['s-com <!-- a -->', ' b']],
  ['if x: # why', 'py', ['s-key if', ' x: ', 's-com # why']],
  ['a#b // c', 'sh', ['a#b // c']],
  ['# no comment', 'ts', ['# no comment']],
  ['if only 2 "things"', 'md', ['if only ', 's-num 2', ' ', 's-str "things"']],
  ['if', '', ['if']],
  ['constant', 'ts', ['constant']],
  ['', 'ts', []]
]

t.test('keywords, strings, numbers and comments stand out, and the text stays the same', async t => {
  for (const [line, language, spans] of cases) {
    t.strictSame(looks(line, language), spans, line)
    t.equal(
      highlightLine(line, language)
        .map(({ text }) => text)
        .join(''),
      line
    )
  }
})

t.test('a very long line stays plain', async t => {
  const line = (length: number) => `const ${'x'.repeat(length - 6)}`
  t.equal(highlightLine(line(2000), 'ts')[0]?.look, 's-key')
  t.strictSame(highlightLine(line(2001), 'ts'), [{ text: line(2001), look: '' }])
})

t.test('the language of a file is its extension, or its whole name', async t => {
  const names = ['/a/b.test.TS', 'C:\\a.b\\Makefile', 'Dockerfile', '.env', 'a.b/c', '']
  t.strictSame(names.map(languageOf), ['ts', 'makefile', 'dockerfile', 'env', 'c', ''])
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
