import t from 'tap'
import { drawTable, shownBytes, shownDuration } from '../../bin/table.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'

const plainStyle = styleFor({ isTTY: false }, {})

t.test('columns are as wide as their widest text, and foreign text cannot move the cursor', async t => {
  const drawn = drawTable(
    ['name', 'of'],
    [
      ['\u001b[2Jan\napp', 'x'],
      ['手机', 'yy']
    ],
    plainStyle,
    80
  )
  t.equal(drawn, '  name    of\n  an app  x\n  手机    yy\n')
})

t.test('a table wider than the screen is printed row by row, with nothing cut off', async t => {
  const names = ['account', 'key']
  const rows = [
    ['one', 'tirat-josif-rubor-vifod'],
    ['two', 'with words of some length']
  ]
  t.equal(drawTable(names, rows, plainStyle, 40).split('\n')[1], '  one      tirat-josif-rubor-vifod')
  t.equal(
    drawTable(names, rows, plainStyle, 30),
    '  account  one\n  key      tirat-josif-rubor-v\n           ifod\n\n  account  two\n  key      with words of some\n           length\n'
  )
})

t.test('bytes are shown in the largest unit that fits', async t => {
  t.same([0, 1023, 1536, 20 * 1024 ** 3].map(shownBytes), ['0 B', '1023 B', '1.5 KiB', '20.0 GiB'])
})

t.test('a duration is rounded up, and shown in seconds, minutes or hours', async t => {
  const shown: [ms: number, text: string][] = [
    [0, '0 s'],
    [1, '1 s'],
    [59_000, '59 s'],
    [59_001, '1 min'],
    [60_001, '2 min'],
    [59 * 60_000, '59 min'],
    [59 * 60_000 + 1, '1 h 0 min'],
    [61 * 60_000, '1 h 1 min'],
    [150 * 60_000 - 30_000, '2 h 30 min']
  ]
  for (const [ms, text] of shown) t.equal(shownDuration(ms), text, String(ms))
})
