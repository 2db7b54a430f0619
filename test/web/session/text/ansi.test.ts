import t from 'tap'
import { readAnsi } from '../../../../web/session/text/ansi.ts'

const esc = '\u001b'

/** Each line as its spans, with their look in front. */
const read = (output: string) => readAnsi(output).map(line => line.map(({ text, look }) => (look === '' ? text : `${look}: ${text}`)))

const cases: readonly [what: string, output: string, lines: string[][]][] = [
  ['plain lines', 'one\ntwo\r\n\nfour', [['one'], ['two'], [], ['four']]],
  [
    'each of the usual colours',
    `${[31, 32, 33, 34, 35, 36].map(code => `${esc}[${code}mx`).join('')}`,
    [['a-no: x', 'a-ok: x', 'a-warn: x', 'a-fn: x', 'a-key: x', 'a-fn: x']]
  ],
  [
    'the bright ones',
    `${[91, 92, 93, 94, 95, 96].map(code => `${esc}[${code}mx`).join('')}`,
    [['a-no: x', 'a-ok: x', 'a-warn: x', 'a-fn: x', 'a-key: x', 'a-fn: x']]
  ],
  [
    'black, white and codes beside the colours',
    `${[29, 30, 37, 97, 98].map(code => `${esc}[31;${code}mx`).join('')}`,
    [['a-no: x', 'x', 'x', 'x', 'a-no: x']]
  ],
  ['grey', `${esc}[90mgrey${esc}[22mplain`, [['a-dim: grey', 'plain']]],
  [
    'bold and dim until both end',
    `${esc}[1mb${esc}[2mbd${esc}[31mall${esc}[22mred${esc}[39mplain`,
    [['a-bold: b', 'a-bold a-dim: bd', 'a-no a-bold a-dim: all', 'a-no: red', 'plain']]
  ],
  ['a reset, also without a code', `${esc}[1;31mx${esc}[0my${esc}[1;32mz${esc}[mw`, [['a-no a-bold: x', 'y', 'a-ok a-bold: z', 'w']]],
  ['colours go on over lines', `${esc}[31mone\ntwo${esc}[0m\nthree`, [['a-no: one'], ['a-no: two'], ['three']]],
  ['the first colours of the palette', `${esc}[38;5;1mx${esc}[38;5;10my${esc}[38;5;16mz`, [['a-no: x', 'a-ok: y', 'z']]],
  ['codes behind a colour of the palette', `${esc}[38;5;2;1mx${esc}[0;48;5;1;1my`, [['a-ok a-bold: x', 'a-bold: y']]],
  ['codes behind a colour of its own', `${esc}[31;38;2;1;2;31;1mx${esc}[0;48;2;1;2;31;32my`, [['a-bold: x', 'a-ok: y']]],
  ['a background changes no colour', `${esc}[31;48;5;2mx`, [['a-no: x']]],
  ['colons between the codes', `${esc}[38:5:1mx`, [['a-no: x']]],
  ['the one-character form of a sequence', '\u009b31mx', [['a-no: x']]],
  ['only the last state of a progress bar', '10%\r50%\r100%\ndone', [['100%'], ['done']]],
  ['a line that ends by going back to its start', '10%\r100%\r\r\n', [['100%'], []]],
  ['the colour that a dropped part set', `${esc}[31m10%\r100%`, [['a-no: 100%']]],
  [
    'other sequences are dropped',
    `a${esc}[2Kb${esc}[?25lc${esc}]0;title\u0007d${esc}]8;;https://x.example${esc}\\e${esc}Pq${esc}\\f${esc}(Bg${esc}h`,
    [['a', 'b', 'c', 'd', 'e', 'f', 'g']]
  ],
  ['control characters are dropped, tabs stay', 'a\u0008b\tc\u0000', [['ab\tc']]],
  ['a sequence that was cut off', `a${esc}[3`, [['a', '3']]],
  ['nothing but a sequence', `${esc}[31m`, [[]]]
]

for (const [what, output, lines] of cases)
  t.test(`output of a terminal as coloured text: ${what}`, async t => {
    t.strictSame(read(output), lines)
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
