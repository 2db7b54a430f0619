import t from 'tap'
import { watchForRetries } from '../../../../../lib/wrapper/agents/claude/terminal/retries.ts'

function retriesIn(...outputs: readonly string[]): string[] {
  const told: string[] = []
  const console = { columns: 100, rows: 30, write() {}, takeKeys: () => () => {}, onResize: () => () => {} }
  const watched = watchForRetries(console, ({ attempt, of, inMs, why }) => told.push(`${attempt} of ${of} in ${inMs}, ${why}`))
  for (const output of outputs) watched.write(Buffer.from(output))
  return told
}

// As Claude Code 2.1.330 drew them.
const whole = '\x1b[H\r\x1b[24B\x1b[95m✻\x1b[3GAPI error\x1b[37m\x1b[2m · retrying in 1s · attempt 1/10\x1b[22m\x1b[39m\x1b[30;1H\x1b[28;3H'
const second = '\x1b[H\r\x1b[26C\x1b[24B\x1b[37m\x1b[2m2\x1b[40G2\x1b[22m\x1b[39m\x1b[30;1H\x1b[28;3H'
const countedDown = '\x1b[H\r\x1b[26C\x1b[24B\x1b[37m\x1b[2m1\x1b[22m\x1b[39m\x1b[30;1H\x1b[28;3H'
const asks = '\x1b[H\r\x1b[22C\x1b[24B\x1b[37m\x1b[2m… · attempt 2/10\x1b[22m\x1b[39m\x1b[K\x1b[30;1H\x1b[28;3H'
const third =
  '\x1b[H\r\x1b[2C\x1b[24B\x1b[95m429 Try again.\x1b[37m\x1b[2m · retrying in\x1b[32G3s · attempt 3/10\x1b[22m\x1b[39m\x1b[30;1H\x1b[28;3H'

const start = '\x1b[H\r\x1b[23B\x1b[K\r\x1b[1B\x1b[95m✻\x1b[39m \x1b[95mAPI error\x1b[37m\x1b[2m ·'
const end = '\x1b[22m\x1b[39m\x1b[K\x1b[30;1H\x1b[28;3H'
/** Letters that stood there already, and what was drawn around them. */
const overOther = [
  ['\x1b[25;23H ', `${start} retrying\x1b[24Gin 1s · attempt 1/10${end}`],
  ['\x1b[25;17Ht\x1b[25;26H \x1b[25;29H ', `${start}\x1b[15Gre\x1b[18Grying in\x1b[27G1s\x1b[30G· attempt 1/10${end}`],
  ['\x1b[25;17Ht\x1b[25;39H ', `${start} re\x1b[18Grying in 1s · attempt\x1b[40G1/10${end}`]
]

t.test('each attempt is read from the screen, where only changed digits are redrawn', t => {
  t.strictSame(retriesIn(whole, second, countedDown, asks, '\x1b[H\r\x1b[24B\x1b[2K', third), [
    '1 of 10 in 1000, other',
    '2 of 10 in 2000, other',
    '3 of 10 in 3000, limit'
  ])
  for (const [before = '', output = ''] of overOther)
    t.strictSame(retriesIn(before, output), ['1 of 10 in 1000, other'], JSON.stringify(output))
  t.end()
})

t.test('the same attempt of another request is reported again, and once however often it is drawn', t => {
  t.equal(retriesIn(whole, '\x1b[2J', whole, whole, '\x1b[2J\x1b[H', asks, whole).length, 3)
  t.end()
})

t.test('it is read from chunks of any size', t => {
  const bytes = Buffer.from(whole + second)
  const told: unknown[] = []
  const console = { columns: 100, rows: 30, write() {}, takeKeys: () => () => {}, onResize: () => () => {} }
  const watched = watchForRetries(console, retrying => told.push(retrying.attempt))
  for (const byte of bytes) watched.write(Buffer.of(byte))
  t.strictSame(told, [1, 2])
  t.end()
})

t.test('similar text is not a retry', t => {
  t.strictSame(retriesIn('\x1b[26G2\x1b[40G3\x1b[28;3H', `\x1b[200G1s${' '.repeat(60)}2/3`), [])
  t.strictSame(retriesIn('I will be retrying in a moment, attempt by attempt', '\x1b[5Gin 1s'), [])
  t.end()
})
