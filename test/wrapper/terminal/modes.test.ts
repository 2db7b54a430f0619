import t from 'tap'
import { followModes } from '../../../lib/wrapper/terminal/modes.ts'

t.test('terminal modes left on by a killed program are turned off, and nothing else', t => {
  const modes = followModes()
  modes.take('\x1b[?1049h\x1b[?2004h\x1b[?25lhello\x1b[>1u\x1b[?1000;1006h')
  modes.take(Buffer.from('\x1b[?10'))
  modes.take(Buffer.from('04h and \x1b[?1000l'))
  t.equal(modes.undo(), '\x1b[<u\x1b[?1049l\x1b[?2004l\x1b[?25h\x1b[?1006l\x1b[?1004l')
  t.equal(modes.undo(), '', 'once')
  modes.take('\x1b[?2004h\x1b[>1u text \x1b[?25l\x1b[?25h\x1b[<u\x1b[?2004l')
  t.equal(modes.undo(), '', 'not after one that cleaned up')
  t.end()
})
