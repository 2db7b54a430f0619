import t from 'tap'
import { shown } from '../../bin/commands/doctor.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'

const style = styleFor({ isTTY: false }, {})
const finding = {
  of: 'home server',
  state: 'fail' as const,
  says: 'https://home.example is not responding (ECONNREFUSED)',
  advice: 'Check the network and that the server is running; unsent data is kept on disk'
}

t.test('a finding is printed next to its name, and below it on a narrow terminal', t => {
  t.equal(
    shown(finding, style, 80),
    `fail  home server     https://home.example is not responding (ECONNREFUSED)
                      → Check the network and that the server is running; unsent
                      data is kept on disk`
  )
  t.equal(
    shown(finding, style, 40),
    `fail  home server
      https://home.example is not
      responding (ECONNREFUSED)
      → Check the network and that the
      server is running; unsent data is
      kept on disk`
  )
  t.equal(shown(finding, style, Number.POSITIVE_INFINITY).split('\n').length, 2)
  t.end()
})
