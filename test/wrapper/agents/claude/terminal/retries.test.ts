import t from 'tap'
import { readRetry, watchForRetries } from '../../../../../lib/wrapper/agents/claude/terminal/retries.ts'

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

t.test('the adapter passes on an attempt with its status, and a stream whose text is void', t => {
  const retry = { type: 'system', subtype: 'api_retry', attempt: 2, max_retries: 10, retry_delay_ms: 500 }
  const reasons: [error_status: unknown, why: string][] = [
    [529, 'overloaded'],
    [429, 'limit'],
    [401, 'sign-in'],
    [403, 'sign-in'],
    [400, 'other'],
    [500, 'other'],
    [null, 'unreachable'],
    [undefined, 'unreachable'],
    ['odd', 'unreachable']
  ]
  for (const [error_status, why] of reasons) {
    t.strictSame(readRetry('_claude/sdkMessage', { message: { ...retry, error_status } }), {
      type: 'retrying',
      attempt: 2,
      of: 10,
      inMs: 500,
      why
    })
  }
  t.equal(readRetry('_claude/other', { message: retry }), undefined)
  t.equal(readRetry('_claude/sdkMessage', { message: { ...retry, attempt: 'odd' } }), undefined)
  t.equal(readRetry('_claude/sdkMessage', { message: { ...retry, subtype: 'init' } }), undefined)

  const abandoned = { type: 'stream_event', parent_tool_use_id: null, abandoned_blocks: {} }
  t.strictSame(readRetry('_claude/sdkMessage', { message: abandoned }), { type: 'retrying', inMs: 0, why: 'other' })
  t.equal(readRetry('_claude/other', { message: abandoned }), undefined)
  t.equal(readRetry('_claude/sdkMessage', { message: { ...abandoned, parent_tool_use_id: 'c' } }), undefined, 'it is of a subagent')
  t.equal(readRetry('_claude/sdkMessage', { message: { ...abandoned, abandoned_blocks: null } }), undefined)
  t.end()
})

t.test('a reason on the screen is told by its words', t => {
  for (const [words, why] of [
    ['529', 'overloaded'],
    ['Overloaded', 'overloaded'],
    ['429', 'limit'],
    ['Rate limit', 'limit'],
    ['1529', 'other'],
    ['4290', 'other']
  ] as const)
    t.strictSame(retriesIn(`${words} · retrying in 4s · attempt 3/10`), [`3 of 10 in 4000, ${why}`], words)
  t.end()
})

t.test('what was erased or written over on the screen is no attempt', t => {
  const said = 'retrying in 1s · attempt 1/10'
  const other = 'retrying in 2s · attempt 2/10'
  const first = '1 of 10 in 1000, other'
  const cases: [name: string, outputs: string[], told: string[]][] = [
    ['repeated after the screen was erased', [said, '\x1b[2J\r', said], [first, first]],
    ['repeated after its line was erased', [said, '\x1b[2K\r', said], [first, first]],
    ['repeated after its line was erased from its start', [said, '\r\x1b[K', said], [first, first]],
    ['repeated after its line was erased up to its end', [said, '\x1b[1K\r', said], [first, first]],
    ['still there after an erased rest of the line', [said, '\x1b[K\r', said], [first]],
    ['still there after what is above it was erased', ['\n', said, '\x1b[1A\x1b[1J', '\x1b[1B\r', said], [first]],
    ['gone with what is above', [said, '\n\n\x1b[1J', `\x1b[H${said}`], [first, first]],
    ['gone with what is below', [`\n${said}`, '\x1b[H\x1b[J', `\x1b[2;1H${said}`], [first, first]],
    ['still there above what was erased', [`${said}\n`, '\x1b[J', `\x1b[H${said}`], [first]],
    ['erased up to the cursor and with it', [`x529 · ${said}`, '\x1b[1G\x1b[1K'], [first, '1 of 10 in 1000, overloaded']],
    ['still there behind what was erased', [`xxxxx${said}`, '\x1b[3G\x1b[1J', `\x1b[6G${said}`], [first]],
    ['still there before the erased rest of the screen', [said, '\x1b[J', `\r${said}`], [first]],
    ['gone with the rest of the screen', [said, '\r\x1b[J', said], [first, first]],
    ['corrected with a backspace', ['retrying in 1s · attempt 2\b1/10'], [first]],
    ['no backspace leaves its line', [`\b\b${said}`], [first]],
    ['the last of two', [`${said}\r\n${other}`], ['2 of 10 in 2000, other']],
    ['at the bottom, however far below it the cursor was sent', ['\x1b[99B', said, '\x1b[30;1H', said], [first]],
    ['in the place that a single number names', ['\x1b[3H', said, '\x1b[3;1H', said], [first]],
    ['still there after its screen was erased up to above it', [`\n\n${said}`, '\x1b[2;1H\x1b[1J', `\x1b[3;1H${said}`], [first]],
    ['scrolled away', [said, '\r\n'.repeat(30), said], [first, first]]
  ]
  for (const [name, outputs, told] of cases) t.strictSame(retriesIn(...outputs), told, name)
  t.end()
})
