import t from 'tap'
import { fit, fitPath, folded, foldedIndented, plain, styleFor, widthOf, wrapped } from '../../../lib/wrapper/terminal/style.ts'

t.test('text is coloured on a terminal, unless a person or the terminal wants none', async t => {
  const drawn = (isTTY: boolean, env: Record<string, string> = {}) => {
    const { bold, dim, good, needs, bad } = styleFor({ isTTY }, env)
    return [bold, dim, good, needs, bad].map(style => style('x')).join('')
  }
  t.equal(drawn(true), '\x1b[1mx\x1b[22m\x1b[2mx\x1b[22m\x1b[32mx\x1b[39m\x1b[33mx\x1b[39m\x1b[31mx\x1b[39m')
  t.equal(drawn(true, { NO_COLOR: '', TERM: 'xterm' }), drawn(true))
  t.equal(drawn(false), 'xxxxx')
  t.equal(drawn(true, { NO_COLOR: '1' }), 'xxxxx')
  t.equal(drawn(true, { TERM: 'dumb' }), 'xxxxx')
})

t.test('text of others is one line without any control', async t => {
  t.equal(plain(' \x1b[31mred\x1b[0m \t and\r\n  more\u0007\u202e! '), 'red and more!')
})

t.test('what does not fit is cut after a word, or in a long one, and shows that it was cut', async t => {
  const cases: [text: string, columns: number, shown: string][] = [
    ['Mend the gate', 13, 'Mend the gate'],
    ['Mend the gate', 12, 'Mend the…'],
    ['Mend the gate', 9, 'Mend the…'],
    ['Mend the gate', 8, 'Mend…'],
    ['Mendthegate', 5, 'Mend…'],
    [' Mendthegate', 6, ' Mend…'],
    ['a bcdefghijklmnop', 15, 'a bcdefghijklm…'],
    ['a bcdefghijklmnop', 14, 'a…'],
    ['日本語', 5, '日本…'],
    ['日本語', 6, '日本語']
  ]
  for (const [text, columns, shown] of cases) t.equal(fit(text, columns), shown, `${text} in ${columns}`)
})

t.test('of a path the end is shown', async t => {
  const cases: [path: string, columns: number, shown: string][] = [
    ['/home/one', 9, '/home/one'],
    ['/home/one', 8, '…ome/one'],
    ['/home/日本', 5, '…日本'],
    ['/home', 1, '…'],
    ['/home', 0, '…']
  ]
  for (const [path, columns, shown] of cases) t.equal(fitPath(path, columns), shown, `${path} in ${columns}`)
})

t.test('text is wrapped between words, and only a word longer than a line is broken', async t => {
  const cases: [text: string, columns: number, lines: string[]][] = [
    ['', 4, ['']],
    ['one two', 7, ['one two']],
    ['one two', 6, ['one', 'two']],
    ['one two', 3, ['one', 'two']],
    ['one  two', 4, ['one', 'two']],
    ['one twothree', 6, ['one', 'twothr', 'ee']],
    ['a bcdefghijklmnopqrst', 16, ['a bcdefghijklmno', 'pqrst']],
    ['a bcdefghijklmnopqrst u', 19, ['a', 'bcdefghijklmnopqrst', 'u']],
    ['a bcdefghijklmn op', 14, ['a', 'bcdefghijklmn', 'op']],
    ['日本 x', 1, ['日', '本', 'x']]
  ]
  for (const [text, columns, lines] of cases) t.strictSame(wrapped(text, columns), lines, `${text} in ${columns}`)
})

t.test('sentences are folded, and lines to copy stay whole', async t => {
  t.equal(folded('one two three\n  one two three\nfour', 7), 'one two\nthree\n  one two three\nfour')
  t.equal(folded('one two', 6), 'one\ntwo')
  t.equal(folded('threefour one', 4), 'threefour\none')
  t.equal(folded('one  two', 80), 'one  two')
  t.equal(foldedIndented('one two three', 9), '  one two\n  three')
})

t.test('wide letters and pictures use two columns, and marks none', async t => {
  const cases: [text: string, width: number][] = [
    ['', 0],
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['✨', 2],
    ['🚀', 2],
    ['🇩🇪', 2]
  ]
  for (const [text, width] of cases) t.equal(widthOf(text), width, text)
})
