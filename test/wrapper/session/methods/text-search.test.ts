import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readGitGrep, readRipgrep, searchWalking, type TextAsked } from '../../../../lib/wrapper/session/methods/text-search.ts'

const asking = (query: string, more: Partial<TextAsked> = {}): TextAsked => {
  return { query, isRegex: false, isCaseSensitive: false, glob: undefined, ...more }
}
type Match = { path: object; lines: object; line_number: unknown; submatches: { start: number; end: number }[] }
const matchIn = (path: string, text: string, number = 1, submatches: Match['submatches'] = []): Match => {
  return { path: { text: path }, lines: { text }, line_number: number, submatches }
}
const output = (...matches: Match[]) => matches.map(data => `${JSON.stringify({ type: 'match', data })}\n`).join('')

t.test('of ripgrep the matches are read, by file, and nothing else', async t => {
  const begin = `${JSON.stringify({ type: 'begin', data: { path: { text: 'a' } } })}\n`
  const cut = output(matchIn('a', 'never\n')).slice(0, -5)
  const read = readRipgrep(
    begin + output(matchIn('./a', 'one\r\n', 3), matchIn('.\\b\\c', 'two\n', 4), matchIn('./a', 'three', 5)) + cut,
    false
  )
  t.strictSame(read, {
    files: [
      {
        path: 'a',
        lines: [
          { number: 3, text: 'one', ranges: [] },
          { number: 5, text: 'three', ranges: [] }
        ]
      },
      { path: 'b/c', lines: [{ number: 4, text: 'two', ranges: [] }] }
    ],
    isCut: false
  })
  t.equal(readRipgrep('', true).isCut, true)
})

t.test('a match whose path or line is not text is left out', async t => {
  const good = matchIn('a', 'x', 1)
  const bytes = { bytes: 'AA==' }
  const odd = [
    { ...good, path: bytes },
    { ...good, lines: bytes },
    { ...good, line_number: null }
  ]
  for (const match of odd) t.strictSame(readRipgrep(output(match), false).files, [])
  t.equal(readRipgrep(output(...odd, good), false).files.length, 1, 'and no other is')
})

t.test('places are counted in characters, also behind those of several bytes', async t => {
  const [file] = readRipgrep(output(matchIn('a', 'üü needle', 1, [{ start: 5, end: 11 }])), false).files
  t.strictSame(file?.lines[0]?.ranges, [{ from: 3, to: 9 }])
})

t.test('a line of 400 characters is shown whole, and of a longer one the part around its first match', async t => {
  const line = (text: string, ...submatches: Match['submatches']) =>
    readRipgrep(output(matchIn('a', text, 1, submatches)), false).files[0]?.lines[0]
  const fits = 'x'.repeat(400)
  t.equal(line(fits, { start: 300, end: 301 })?.text, fits)
  t.equal(line(`${fits}y`)?.text, fits)
  const long = `${'x'.repeat(500)}needle${'y'.repeat(308)}needle${'z'.repeat(100)}`
  const second = long.lastIndexOf('needle')
  const shown = line(long, { start: 500, end: 506 }, { start: second, end: second + 6 }, { start: 820, end: 821 })
  t.equal(shown?.text, long.slice(420, 820))
  t.strictSame(shown?.ranges, [
    { from: 80, to: 86 },
    { from: 394, to: 400 }
  ])
  const crossing = line(long, { start: 500, end: 506 }, { start: 819, end: 825 })
  t.strictSame(crossing?.ranges?.at(-1), { from: 399, to: 400 })
  t.equal(line(long, { start: 79, end: 85 })?.text, long.slice(0, 400))
})

t.test('git tells the lines of files of the asked form', async t => {
  const told = 'src/a.ts\x007\x00a Needle, a needle\r\nsrc/b.md\x001:needle\nnot a match\n'
  const a = {
    path: 'src/a.ts',
    lines: [
      {
        number: 7,
        text: 'a Needle, a needle',
        ranges: [
          { from: 2, to: 8 },
          { from: 12, to: 18 }
        ]
      }
    ]
  }
  const b = { path: 'src/b.md', lines: [{ number: 1, text: 'needle', ranges: [{ from: 0, to: 6 }] }] }
  t.strictSame(readGitGrep(told, asking('needle'), false), { files: [a, b], isCut: false })
  for (const glob of ['*.md', 'src/*.md', '**/b.md'])
    t.strictSame(readGitGrep(told, asking('needle', { glob }), true), { files: [b], isCut: true })
  for (const glob of ['*.js', 'other/*.md', './*.md']) t.strictSame(readGitGrep(told, asking('needle', { glob }), false).files, [], glob)
  const [exact] = readGitGrep(told, asking('Needle', { isCaseSensitive: true }), false).files
  t.strictSame(exact?.lines[0]?.ranges, [{ from: 2, to: 8 }])
  const [regex] = readGitGrep(told, asking('needle', { isRegex: true }), false).files
  t.notOk(regex?.lines[0] && 'ranges' in regex.lines[0], 'git does not say where')
})

t.test('at most 500 lines are told, and then there may be more', async t => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `f${at}\x001\x00x\n`).join('')
  for (const [count, shown, isCut] of [
    [499, 499, false],
    [500, 500, true],
    [502, 500, true]
  ] as const) {
    const read = readGitGrep(lines(count), asking('x'), false)
    t.strictSame([read.files.length, read.isCut], [shown, isCut])
  }
  const found = readRipgrep(output(...Array.from({ length: 502 }, (_, at) => matchIn(`f${at}`, 'x'))), false)
  t.strictSame([found.files.length, found.isCut], [500, true])
})

t.test('without a program each text file below 1 MiB is searched', async t => {
  const folder = t.testdir({})
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  write('a/one.txt', 'no\nA needle needle\r\n')
  write('a/two.md', 'needle')
  write('binary', '\0needle')
  write('broken', new Uint8Array([0xff, ...Buffer.from('needle')]))
  write('large', 'needle'.padEnd(1024 * 1024))
  write('fits', 'needle'.padEnd(1024 * 1024 - 1))
  const { files, isCut } = await searchWalking(folder, asking('NEEDLE'))
  t.strictSame(files.map(({ path }) => path).toSorted(), ['a/one.txt', 'a/two.md', 'fits'])
  t.equal(isCut, false)
  t.strictSame(files.find(({ path }) => path === 'a/one.txt')?.lines, [
    {
      number: 2,
      text: 'A needle needle',
      ranges: [
        { from: 2, to: 8 },
        { from: 9, to: 15 }
      ]
    }
  ])
  const some = await searchWalking(folder, asking('needle', { glob: '*.md' }))
  t.strictSame(
    some.files.map(({ path }) => path),
    ['a/two.md']
  )
})
