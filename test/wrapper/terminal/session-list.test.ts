import t from 'tap'
import { drawNumbered } from '../../../lib/wrapper/terminal/session-list.ts'
import { styleFor, widthOf } from '../../../lib/wrapper/terminal/style.ts'

const style = styleFor({ isTTY: false }, {})
const entry = { title: 'Mend the gate', agent: 'Demo agent', folder: '/srv/orchard/gates/north', state: 'ended yesterday' }

t.test('the end time of a session is never cut off, however narrow the screen', t => {
  for (const columns of [30, 40, 50, 80]) {
    const lines = drawNumbered([entry], style, columns)
    t.match(lines.join('\n'), /ended yesterday$/, String(columns))
    t.match(lines.join('\n'), /north/)
    for (const line of lines) t.ok(widthOf(line) < columns, line)
  }
  t.strictSame(drawNumbered([entry], style, 80), ['  1  Mend the gate', '     Demo agent in /srv/orchard/gates/north, ended yesterday'])
  t.strictSame(drawNumbered([entry], style, 40).slice(1), ['     Demo agent in …orchard/gates/north', '     ended yesterday'])
  t.end()
})
