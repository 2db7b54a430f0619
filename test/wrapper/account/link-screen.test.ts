import t from 'tap'
import { linkScreen } from '../../../lib/wrapper/account/link-screen.ts'
import { styleFor } from '../../../lib/wrapper/terminal/style.ts'

const style = styleFor({ isTTY: false }, {})

function screenOf(server: string, { columns = 80, rows = 24, forHappy = false } = {}): string {
  const link = `${server}/terminal/connect#v2=${'A'.repeat(88)}`
  const happyLink = forHappy ? `happy://terminal?${'A'.repeat(43)}` : undefined
  return linkScreen({ server, link, happyLink, forHappy, style, terminal: { isTTY: true, columns, rows } })
}
const hasCode = (screen: string) => /[█▀▄]{3}/.test(screen)

t.test('an address that no phone can reach is shown without a code, and with what to do instead', async t => {
  for (const server of ['http://127.0.0.1:3005', 'http://localhost:3005', 'http://[::1]:3005']) {
    const screen = screenOf(server)
    t.notOk(hasCode(screen), server)
    t.match(screen, /in a browser on this computer/)
    t.match(screen, /A phone cannot reach .+ login --server <address>\n/s)
  }
  const link = 'http://127.0.0.1:3005/terminal/connect#v2=A'
  const known = { server: 'http://127.0.0.1:3005', link, forPhones: 'https://mine.example', forHappy: false, style }
  t.match(linkScreen({ ...known, terminal: { isTTY: true, columns: 80, rows: 24 } }), /login --server https:\/\/mine\.example/)
  t.ok(hasCode(screenOf('http://127.0.0.1:3005', { forHappy: true })), 'an app of Happy has its server from elsewhere')
  t.ok(hasCode(screenOf('http://192.168.1.5:3005')))
})

t.test('on a narrow terminal sentences wrap between words, and text to copy is on a line of its own', async t => {
  for (const server of ['http://127.0.0.1:3005', 'https://home.example']) {
    const wide = screenOf(server, { columns: 40 })
      .split('\n')
      .filter(line => line.length > 40 && !/^ {2}(http|node build\.mjs start login)/.test(line))
    t.strictSame(wide, [])
  }
  t.match(screenOf('http://192.168.1.5:3005', { columns: 40, forHappy: true }), /In the Happy app:\n {2}happy:\/\/terminal\S+\n/)
})

t.test('who does not use Happy sees nothing of it', t => {
  for (const server of ['http://127.0.0.1:3005', 'https://home.example']) t.notMatch(screenOf(server), /Happy/i)
  t.end()
})

t.test('a code never exceeds the screen, including the line below it', async t => {
  const server = 'https://home.example'
  const lines = screenOf(server)
    .split('\n')
    .filter(line => /[█▀▄]{3}/.test(line))
  t.ok(lines.length <= 22)
  t.notOk(hasCode(screenOf(server, { rows: lines.length + 1 })))
  t.notOk(hasCode(screenOf(server, { columns: 40 })))
  t.match(screenOf(server, { columns: 40 }), /too small for a code.+/)
  t.match(screenOf(server, { columns: 40 }), /terminal\/connect#v2=/)
})
