import t from 'tap'
import { type Picking, pick } from '../../bin/pick.ts'
import { createSessionFolder } from '../../lib/wrapper/home/session-folder.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'

/** Types the answers one after the other, and keeps what was shown. */
async function picked(answers: readonly (string | undefined)[], changes: Partial<Picking<string>> = {}, isTTY = true) {
  const left = [...answers]
  let output = ''
  const entries = Array.from({ length: 30 }, (_, index) => `entry ${index + 1}`)
  const result = await pick({
    terminal: {
      isTTY,
      columns: 80,
      rows: 24,
      write: text => {
        output += text
      },
      onResize: () => () => {},
      ask: async question => {
        output += question
        return left.shift()
      }
    },
    env: { NO_COLOR: '1' },
    entries,
    draw: entries => entries.flatMap((entry, index) => [`${index + 1} ${entry}`, '  about it']),
    search: words => entries.filter(entry => words.every(word => entry.includes(word))),
    ...changes
  })
  return { result, output }
}

t.test('the first entries fit on the screen, and the rest are counted', async t => {
  const { result, output } = await picked(['2'])
  t.equal(result, 'entry 2')
  t.match(
    output,
    /1 entry 1\n.*9 entry 9\n {2}about it\n {2}and 21 more\n\nWhich one\? 1 to 9, words to search for, or Enter to cancel: $/s
  )
  t.notMatch(output, 'entry 10')
})

t.test('an entry that is not shown can be picked by number, and multi-line entries leave space for the question', async t => {
  t.match(await picked(['28']), { result: 'entry 28' })
  const { output } = await picked([''], { draw: entries => entries.flatMap(entry => [entry, 'about it', 'and more']) })
  t.match(output, /and 24 more/)
})

t.test('words search all entries, and a number picks from the results', async t => {
  t.match(await picked(['entry 2', '3']), { result: 'entry 20', output: /1 entry 2\n.*\n2 entry 12\n.*\n3 entry 20\n/ })
  t.match(await picked(['pear', '99', '1']), { result: 'entry 1', output: /Nothing matches pear\..*There is no number 99 in the list\./s })
})

t.test('entries are counted only when some are not shown, and a low screen still shows three', async t => {
  const draw = (entries: readonly string[]) => entries.map(entry => `- ${entry}`)
  const of = (count: number) => Array.from({ length: count }, (_, index) => `entry ${index + 1}`)
  t.match((await picked([''], { draw, entries: of(20) }, false)).output, /- entry 20\n\nWhich one\? 1 to 20,/)
  t.match((await picked([''], { draw, entries: of(21) }, false)).output, /- entry 20\n {2}and 1 more\n\nWhich one\? 1 to 20,/)
  const tall = (entries: readonly string[]) => entries.flatMap(entry => Array.from({ length: 10 }, () => `- ${entry}`))
  t.match((await picked([''], { draw: tall, entries: of(4) })).output, /- entry 3\n {2}and 1 more\n\nWhich one\? 1 to 3,/)
  t.match(await picked(['20', '1'], { search: () => ['the only one'] }), { result: 'entry 20' })
  t.match(await picked(['only', '1'], { search: () => ['the only one'] }), { result: 'the only one', output: /Which one\? 1, words/ })
})

t.test('an empty answer cancels, and without a terminal nothing is asked', async t => {
  t.match(await picked([' ']), { result: undefined })
  t.match(await picked([undefined], {}, false), { result: 'nobody', output: /20 entry 20\n.*\n {2}and 10 more/ })
})

t.test('Ctrl-C or Ctrl-D at the prompt exits with a sentence', async t => {
  const home = t.testdir()
  const notes = { tag: 'one', server: 'http://x', key: null, metadata: { path: home, host: 'here' }, cursor: 0, turn: null }
  createSessionFolder(home, { ...notes, program: { kind: 'demo' } }).retire()
  for (const key of ['\x03', '\x04']) {
    const terminal = runOnTerminal(t, { home, directory: home, args: ['resume'] })
    await terminal.sees(/Which one\?/)
    terminal.type(key)
    t.equal(await terminal.ended, 130)
    t.match(terminal.screen, /cancel: \nNothing was done\.\n+$/)
    t.notMatch(terminal.screen, /at .*node:/)
  }
})
