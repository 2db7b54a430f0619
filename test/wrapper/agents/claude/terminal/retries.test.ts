import t from 'tap'
import { watchForRetries } from '../../../../../lib/wrapper/agents/claude/terminal/retries.ts'

function retriesIn(...outputs: readonly string[]): number {
  let count = 0
  const console = { columns: 100, rows: 30, write() {}, takeKeys: () => () => {}, onResize: () => () => {} }
  const watched = watchForRetries(console, () => count++)
  for (const output of outputs) watched.write(Buffer.from(output))
  return count
}

// As Claude Code 2.1.330 drew them.
const start = '\x1b[H\r\x1b[22B\x1b[K\r\x1b[1B\x1b[95m✻\x1b[39m \x1b[95mAPI error\x1b[37m\x1b[2m ·'
const whole = '\x1b[H\r\x1b[24B\x1b[95m✻\x1b[3GAPI error\x1b[37m\x1b[2m · retrying in 1s · attempt 1/10\x1b[22m\x1b[39m\x1b[30;1H\x1b[28;3H'
const overOther = [
  `${start} retrying\x1b[24Gin 1s · attempt 1/10\x1b[22m\x1b[39m\x1b[K\x1b[30;1H\x1b[28;3H`,
  `${start}\x1b[15Gre\x1b[18Grying in\x1b[27G1s\x1b[30G· attempt 1/10\x1b[22m\x1b[39m\x1b[K\x1b[30;1H\x1b[28;3H`,
  `${start} re\x1b[18Grying in 1s · attempt\x1b[40G1/10\x1b[22m\x1b[39m\x1b[30;1H\x1b[28;3H`
]

t.test('a retry is seen on the screen, also where letters of it stood there already', t => {
  t.equal(retriesIn(whole), 1)
  for (const output of overOther) t.equal(retriesIn(output), 1, JSON.stringify(output))
  t.end()
})

t.test('its later digits, and what only looks alike, are no retry', t => {
  t.equal(retriesIn('\x1b[26G2\x1b[40G3\x1b[28;3H', `\x1b[200G1s${' '.repeat(60)}2/3`), 0)
  t.equal(retriesIn('I will be retrying in a moment, attempt by attempt', '\x1b[5Gin 1s'), 0)
  t.end()
})
