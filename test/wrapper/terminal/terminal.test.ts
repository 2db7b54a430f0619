import { PassThrough } from 'node:stream'
import xterm from '@xterm/headless'
import t from 'tap'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { drawSession, type SessionView } from '../../../lib/wrapper/run/session-view.ts'
import { fit, fitPath, folded, plain, styleFor, widthOf, wrapped } from '../../../lib/wrapper/terminal/style.ts'
import { openBlock, processTerminal, tell } from '../../../lib/wrapper/terminal/terminal.ts'

t.test('a sentence wraps between words, and text to copy does not wrap', t => {
  const command = '  npm install --prefix /home/ann/.afield/agents'
  t.strictSame(folded(`Claude cannot be driven here.\n${command}\n`, 20).split('\n'), ['Claude cannot be', 'driven here.', command, ''])
  t.equal(folded('a/word/longer/than/it', 10), 'a/word/longer/than/it')
  t.equal(folded('一二三 四五', 6), '一二三\n四五', 'wide letters take two columns')
  t.end()
})

const view: SessionView = {
  session: 'cmabc',
  link: { type: 'live' },
  waiting: 0,
  isWorking: false,
  step: undefined,
  modelWait: undefined,
  questions: [],
  queued: 0,
  lastingYes: undefined,
  trouble: undefined,
  note: undefined,
  title: 'Claude Code',
  folder: '~/code/orchard-api',
  server: 'https://home.example',
  workingMs: 0,
  leftovers: 0,
  isKeyboardAway: false,
  anyKey: undefined,
  stopping: 'no',
  watching: 0,
  isLog: false
}
const style = styleFor({ isTTY: false }, {})
const draw = (changes: Partial<SessionView>, columns = 80) => drawSession({ ...view, ...changes }, style, columns)

t.test('each state of a session has a description', t => {
  const states: [Partial<SessionView>, RegExp][] = [
    [{}, /Agent +waiting for a message from your phone/],
    [{}, /Phone +https:\/\/home\.example\/s\/cmabc/],
    [{ session: undefined, link: { type: 'connecting' } }, /Link +connecting to https:\/\/home\.example/],
    [{ isWorking: true, workingMs: 75_000, step: 'Run npm test' }, /Agent +working, 1 min 15 s: Run npm test/],
    [{ isWorking: true, queued: 2 }, /2 more messages wait/],
    [
      { isWorking: true, questions: [{ title: 'Edit a.ts' }] },
      /Agent +waiting for your decision\n +Needs you +Edit a\.ts\n.*Answer on your phone\. Ctrl-C stops/s
    ],
    [{ link: { type: 'away', reason: 'x' }, waiting: 1 }, /keeps working, will deliver 1 message$/m],
    [{ link: { type: 'away', reason: 'x' }, waiting: 12 }, /will deliver 12 messages/],
    [{ link: { type: 'unlinked' }, waiting: 3 }, /unlinked; 3 messages waiting for: .*login/],
    [{ lastingYes: 'Allow all edits this session' }, /Your yes +Allow all edits this session/],
    [{ trouble: 'the disk is full' }, /Trouble +the disk is full/],
    [{ note: 'Codex has no such mode' }, /Note +Codex has no such mode/],
    [{ isKeyboardAway: true, anyKey: 'takes it back here' }, /Keyboard +with your phone\n.*Any key takes it back here\. Ctrl-C twice/s],
    [{}, /Watching +nobody$/m],
    [{ watching: 1 }, /Watching +1 device$/m],
    [{ watching: 3 }, /Watching +3 devices$/m],
    [{ leftovers: 2 }, /Earlier +delivering messages of 2 earlier sessions/],
    [{ stopping: 'turn' }, /Stopping\. Ctrl-C again ends/],
    [{ stopping: 'ending', waiting: 4 }, /delivering 4 messages\n\n.*nothing is lost/]
  ]
  for (const [changes, says] of states) t.match(draw(changes).join('\n'), says, JSON.stringify(changes))
  t.end()
})

t.test('while the model is silent it says for how long, and why and when the next attempt is made', t => {
  const at = 1_000_000
  t.intercept(Date, 'now', { value: () => at })
  const waits: [SessionView['modelWait'], string][] = [
    [{ since: at - 75_999 }, 'no output from the model for 1 min 15 s'],
    [{ since: at, retry: { why: 'limit', at: at + 30_000, inMs: 20_001 } }, 'rate limited; retrying automatically'],
    [
      { since: at, retry: { why: 'overloaded', attempt: 2, of: 5, at: at + 20_001, inMs: 30_000 } },
      'the model is overloaded; attempt 2 of 5, next in 21 s'
    ],
    [
      { since: at, retry: { why: 'unreachable', attempt: 3, at: at + 90_000, inMs: 20_000 } },
      'the model cannot be reached; attempt 3, next in 20 s'
    ],
    [{ since: at, retry: { why: 'sign-in', attempt: 1, of: 1, at: at + 1, inMs: 1 } }, 'it is not signed in; attempt 1 of 1, next in 1 s'],
    [{ since: at, retry: { why: 'other', attempt: 1, at, inMs: 5 } }, 'the model returned an error; attempt 1']
  ]
  for (const [modelWait, says] of waits) {
    const line = draw({ isWorking: true, workingMs: 2000, step: 'unseen', queued: 1, modelWait }, 120).find(line => line.includes('Agent '))
    t.equal(line, `  Agent      working, 2 s: ${says} (1 more message waits)`)
  }
  t.end()
})

t.test('no line is longer than the screen, and the address of the session is never cut', t => {
  const long = {
    isWorking: true,
    step: 'x'.repeat(300),
    questions: [{ title: '字'.repeat(200) }],
    trouble: 'y'.repeat(300),
    folder: '~/'.padEnd(200, 'z')
  }
  for (const columns of [30, 40, 80, 120]) {
    const lines = draw(long, columns)
    for (const line of lines) t.ok(widthOf(line) < columns, `${columns}: ${line}`)
    t.match(lines.join('').replaceAll(' ', ''), 'https://home.example/s/cmabc')
  }
  t.end()
})

t.test('instructions are never cut short on a narrow terminal', t => {
  const shown = (changes: Partial<SessionView>) => draw(changes, 40).join(' ').replace(/ +/g, ' ')
  t.match(shown({ isWorking: true, questions: [{ title: 'Edit a.ts' }] }), 'Answer on your phone. Ctrl-C stops the turn.')
  t.match(shown({ stopping: 'ending' }), 'Ending. Ctrl-C again quits now; nothing is lost.')
  t.match(shown({ link: { type: 'unlinked' } }), 'unlinked: run node build.mjs start login')
  t.match(shown({ trouble: 'the disk of this computer is full: make room' }), 'the disk of this computer is full: make room')
  t.end()
})

t.test('a word that fits on a line of its own is not broken', t => {
  t.strictSame(wrapped('curl -fsSL https://example.com/install.sh | bash', 30), ['curl -fsSL', 'https://example.com/install.sh', '| bash'])
  t.strictSame(wrapped('rm a/path/that/is/longer/than/one/line', 20), ['rm a/path/that/is/lo', 'nger/than/one/line'])
  t.strictSame(
    wrapped('git push origin https://example.com/x/y/z/very/long', 20),
    ['git push origin', 'https://example.com/', 'x/y/z/very/long'],
    'nor begun where little of it would stand'
  )
  t.end()
})

t.test('a waiting command is shown in full, with why it is risky', t => {
  const command = `find . -name '*.log' -newer ${'a/deep/folder/'.repeat(9)}mark -exec rm -rf {} + && git push --force`
  const risk = { level: 'risky' as const, reasons: ['deletes' as const, 'rewrites-history' as const, 'network' as const] }
  for (const columns of [50, 80, 120, Number.POSITIVE_INFINITY]) {
    const lines = draw({ isWorking: true, questions: [{ title: command, risk }] }, columns)
    const asked = lines.slice(lines.findIndex(line => /Needs you/.test(line)))
    const text = (from: RegExp, to: RegExp) => {
      const rest = asked.slice(asked.findIndex(line => from.test(line)))
      return rest
        .slice(
          0,
          rest.findIndex(line => to.test(line))
        )
        .map(line => line.slice(13))
        .join('')
        .replaceAll(' ', '')
    }
    t.equal(text(/Needs you/, /Risky/), command.replaceAll(' ', ''))
    t.equal(text(/Risky/, /Link/), 'deletes files, rewrites history, reaches the network'.replaceAll(' ', ''))
  }
  const [first, second] = draw({
    isWorking: true,
    questions: [{ title: 'cat <<E\nhello\nE', risk: { level: 'plain', reasons: [] } }]
  }).slice(6)
  t.match(first, /Needs you +cat <<E$/)
  t.match(second, /^ +hello$/)
  const script = draw({ isWorking: true, questions: [{ title: 'echo\n'.repeat(200) }] })
  t.ok(script.length < 24)
  t.match(script.join('\n'), /The rest is on your phone\./)
  t.end()
})

t.test('agent output cannot move the cursor or colour the screen', t => {
  const nasty = '\x1b[2J\x1b]0;title\x07red\x1b[31m\r\nnew\u202eline\x00'
  t.equal(plain(nasty), 'red newline')
  t.notMatch(draw({ isWorking: true, step: nasty, questions: [{ title: nasty }], trouble: nasty }).join(''), /\p{Cc}|\p{Cf}/u)
  t.equal(fit('abcdef', 4), 'abc…')
  t.equal(fit('字字字', 4), '字…')
  t.end()
})

t.test('truncated text ends after a word if one is near, and a path keeps its end', t => {
  t.equal(fit('Refunds are matched with invoices', 22), 'Refunds are matched…')
  t.equal(fit('Refunds are matched with invoices', 20), 'Refunds are matched…')
  t.equal(fit('Read ~/code/orchard/gates/north/hinges.ts', 30), 'Read ~/code/orchard/gates/nor…', 'of what is long a part stays')
  t.equal(fitPath('~/code/orchard/gates', 14), '…orchard/gates')
  t.equal(fitPath('~/code/果园', 5), '…果园')
  t.equal(fitPath('~/code', 6), '~/code')
  t.end()
})

t.test('the width of emoji and pictures matches the terminal', t => {
  for (const [text, columns] of [
    ['✅', 2],
    ['⚡✨', 4],
    ['🚀', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['✓ →', 3],
    ['e\u0301', 1]
  ] as const)
    t.equal(widthOf(text), columns, text)
  t.end()
})

t.test('on a terminal lines are redrawn in place; elsewhere each new line is written once', async t => {
  let lines = ['one', 'two']
  const written = { live: '', plain: '' }
  const open = (isTTY: boolean) =>
    openBlock(
      {
        isTTY,
        columns: 80,
        rows: 24,
        write: text => {
          written[isTTY ? 'live' : 'plain'] += text
        },
        onResize: () => () => {},
        ask: async () => undefined
      },
      () => lines
    )
  const blocks = [open(true), open(false)]
  lines = ['one', 'three']
  for (const block of blocks) block.redraw()
  for (const block of blocks) block.close()
  t.equal(written.live, 'one\ntwo\n\x1b[2F\x1b[0Jone\nthree\n')
  t.equal(written.plain, 'one\ntwo\nthree\n')
})

t.test('on a terminal without escape sequences nothing is redrawn', t => {
  const output = Object.assign(new PassThrough(), { isTTY: true }) as never
  t.equal(processTerminal(output, { TERM: 'xterm' }).isTTY, true)
  t.equal(processTerminal(output, { TERM: 'dumb' }).isTTY, false)
  t.end()
})

t.test('a terminal that does not tell its size counts as one of 80 by 24, and a file never ends a line', t => {
  const sizeOf = (output: object) => {
    const { columns, rows } = processTerminal(output as never, {})
    return [columns, rows]
  }
  t.strictSame(sizeOf({ isTTY: true, columns: 132, rows: 50 }), [132, 50])
  t.strictSame(sizeOf({ isTTY: true, columns: 0, rows: 0 }), [80, 24])
  t.strictSame(sizeOf({ columns: 132 }), [Number.POSITIVE_INFINITY, 24])
  t.end()
})

t.test('a terminal without escape sequences wraps between words, and a file has each sentence on one line', t => {
  const sentence = 'Agent      waiting for a message from your phone'
  const written = (changes: { isTTY: boolean; columns?: number }, TERM: string) => {
    let text = ''
    const output = Object.assign(new PassThrough(), changes, { write: (more: string) => (text += more) })
    const terminal = processTerminal(output as never, { TERM })
    openBlock(terminal, () => [sentence]).close()
    tell(terminal, sentence)
    return text
  }
  const broken = 'Agent      waiting for a\nmessage from your phone\n'
  t.equal(written({ isTTY: true, columns: 24 }, 'dumb'), broken + broken)
  t.equal(written({ isTTY: false }, 'xterm'), `${sentence}\n${sentence}\n`)
  t.end()
})

t.test('a terminal that became narrower, or is low, shows nothing of the previous drawing', async t => {
  const screen = new xterm.Terminal({ cols: 60, rows: 8, allowProposedApi: true, scrollback: 100 })
  const written = (text: string) => new Promise<void>(resolve => screen.write(text.replaceAll('\n', '\r\n'), resolve))
  let last = Promise.resolve()
  let resized = () => {}
  let lines = ['one'.repeat(15), 'two', '', 'three']
  const block = openBlock(
    {
      isTTY: true,
      get columns() {
        return screen.cols
      },
      get rows() {
        return screen.rows
      },
      write: text => {
        last = written(text)
      },
      onResize(listener) {
        resized = listener
        return () => {}
      },
      ask: async () => undefined
    },
    columns => lines.map(line => line.slice(0, columns - 1))
  )
  await last
  const shown = () =>
    Array.from({ length: screen.buffer.active.length }, (_, row) => screen.buffer.active.getLine(row)?.translateToString(true))
  for (const columns of [40, 25, 20, 60]) {
    screen.resize(columns, 8)
    resized()
    await last
    t.strictSame(
      shown().filter(line => line !== ''),
      [lines[0]?.slice(0, columns - 1), 'two', 'three'],
      `${columns} columns`
    )
  }
  screen.resize(60, 3)
  const low: (string | undefined)[][] = []
  for (const now of ['four', 'five']) {
    lines = ['one', 'two', '', now]
    resized()
    await last
    low.push(shown())
  }
  t.match(low[0]?.join('\n'), /two\nfour\n$/)
  t.strictSame(
    low[1],
    low[0]?.map(line => (line === 'four' ? 'five' : line)),
    'nothing scrolled away'
  )
  block.close()
})

/** One that a test resizes, and what was written to it. */
function screenOf({ columns = 20, rows = 24 } = {}) {
  let text = ''
  const listeners = new Set<() => void>()
  return {
    terminal: {
      isTTY: true,
      columns,
      rows,
      write(more: string) {
        text += more
      },
      onResize(listener: () => void) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      ask: async () => undefined
    },
    listeners,
    written() {
      const now = text
      text = ''
      return now
    }
  }
}

t.test('a block that is suspended leaves the screen to others, and is drawn again below them', t => {
  const { terminal, listeners, written } = screenOf()
  let lines = ['one', 'two']
  const block = openBlock(terminal, () => lines)
  t.equal(written(), 'one\ntwo\n')
  block.suspend()
  t.equal(written(), '\x1b[2F\x1b[0J')
  lines = ['three']
  for (const resized of listeners) resized()
  t.equal(written(), '', 'others write now')
  block.resume()
  t.equal(written(), 'three\n', 'and what they wrote stays')
  for (const resized of listeners) resized()
  t.equal(written(), '\x1b[1F\x1b[0Jthree\n', 'a resized screen is drawn again, though nothing changed')
  lines = ['four']
  block.close()
  t.equal(written(), '\x1b[1F\x1b[0Jfour\n', 'the last state stays')
  t.equal(listeners.size, 0)
  lines = ['five']
  block.close()
  block.redraw()
  t.equal(written(), '')
  t.end()
})

t.test('a block is drawn again soon after it changed, once for all changes, and not when nothing changed', async t => {
  const { terminal, written } = screenOf()
  let lines = ['one']
  let draws = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const block = openBlock(terminal, () => {
    if (++draws === 2) setImmediate(resolve)
    return lines
  })
  lines = ['two']
  block.redraw()
  lines = ['three']
  block.redraw()
  await promise
  t.equal(written(), 'one\n\x1b[1F\x1b[0Jthree\n')
  t.equal(draws, 2)
  block.close()
  t.equal(written(), '')
})

t.test('a block that draws nothing clears nothing, and one wider than the screen is cleared with all its rows', t => {
  const { terminal, written } = screenOf({ columns: 5 })
  let lines: string[] = []
  const block = openBlock(terminal, () => lines)
  lines = ['\x1b[1mabcdef\x1b[22m', '', 'abcde']
  block.resume()
  t.equal(written(), '\x1b[1mabcdef\x1b[22m\n\nabcde\n')
  block.suspend()
  t.equal(written(), '\x1b[4F\x1b[0J', 'two rows, an empty one, and one')
  block.close()
  t.end()
})

t.test('a log has each new line once, and again when it was gone meanwhile', async t => {
  let text = ''
  let lines = ['  one', ' ', 'two']
  const { promise, resolve } = Promise.withResolvers<void>()
  const { terminal } = screenOf()
  const write = (more: string) => {
    text += more
    if (more === 'three\n') resolve()
  }
  const block = openBlock({ ...terminal, isTTY: false, write }, () => lines)
  t.equal(text, 'one\ntwo\n')
  lines = ['two', 'three']
  block.redraw()
  block.redraw()
  await promise
  lines = ['three', '  one']
  block.resume()
  lines = ['three', '  one', 'four']
  block.close()
  t.equal(text, 'one\ntwo\nthree\none\nfour\n')
})

t.test('a terminal says when it was resized, until nobody wants to know', t => {
  const output = Object.assign(new PassThrough(), { isTTY: true })
  const terminal = processTerminal(output as never, {})
  let times = 0
  const stop = terminal.onResize(() => void times++)
  output.emit('resize')
  stop()
  output.emit('resize')
  t.equal(times, 1)
  terminal.write('words')
  t.equal(String(output.read()), 'words')
  t.end()
})

t.test('a question is asked only where a person can answer, and Ctrl-D leaves everything as it is', async t => {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  t.intercept(process, 'stdin', { value: input })
  const person = (columns: number, isTTY = true) => {
    const output = Object.assign(new PassThrough(), { isTTY, columns })
    return { output, terminal: processTerminal(output as never, { TERM: 'dumb' }) }
  }
  t.equal(await person(80, false).terminal.ask('Who? '), undefined)
  const { output, terminal } = person(12)
  const answered = terminal.ask('Which of these? ')
  output.once('data', () => input.write('the first\n'))
  t.equal(await answered, 'the first')
  const refused = terminal.ask('Which? ')
  output.once('data', () => input.end('\x04'))
  await t.rejects(refused, { message: 'Nothing was done.', exitCode: 130 })
  input.isTTY = false
  t.equal(await terminal.ask('Who? '), undefined)
})

t.test('colours are used on a terminal that has them, unless they are unwanted', t => {
  const coloured = styleFor({ isTTY: true }, {})
  t.strictSame(
    [coloured.bold('a'), coloured.dim('a'), coloured.good('a'), coloured.needs('a'), coloured.bad('a')],
    ['\x1b[1ma\x1b[22m', '\x1b[2ma\x1b[22m', '\x1b[32ma\x1b[39m', '\x1b[33ma\x1b[39m', '\x1b[31ma\x1b[39m']
  )
  for (const plainly of [
    styleFor({ isTTY: false }, {}),
    styleFor({ isTTY: true }, { NO_COLOR: '1' }),
    styleFor({ isTTY: true }, { TERM: 'dumb' })
  ])
    t.equal(plainly.bad('a'), 'a')
  t.end()
})

t.test('the state of the link, and each wait for a person, has a colour', t => {
  const colours = styleFor({ isTTY: true }, {})
  const row = (changes: Partial<SessionView>, label: string) =>
    drawSession({ ...view, ...changes }, colours, 120)
      .find(line => line.includes(label))
      ?.split(label.padEnd(11))[1]
      ?.replace('\x1b[22m', '')
  const reached = (type: 'live' | 'connecting' | 'unlinked' | 'gone' | 'unknown' | 'other-key') => row({ link: { type } }, 'Link')
  t.equal(reached('live'), colours.good('live'))
  t.equal(reached('connecting'), 'connecting to https://home.example')
  t.equal(row({ link: { type: 'away', reason: 'x' } }, 'Link'), colours.needs('offline: keeps working, delivers when it reconnects'))
  t.equal(reached('unlinked'), colours.bad(`unlinked: run ${typed('login')}`))
  t.equal(reached('gone'), colours.bad('this session was deleted'))
  t.equal(reached('unknown'), colours.bad('the server no longer knows this session'))
  t.equal(reached('other-key'), colours.bad('stopped: this session has another key on the server; 0 messages kept here'))
  t.equal(row({ trouble: 'full' }, 'Trouble'), colours.bad('full'))
  t.equal(row({ note: 'so' }, 'Note'), colours.needs('so'))
  const asked = (level: 'careful' | 'risky') => ({
    isWorking: true,
    questions: [{ title: 'rm', risk: { level, reasons: ['network' as const] } }]
  })
  t.equal(row(asked('risky'), 'Needs you'), colours.needs('rm'))
  t.equal(row(asked('risky'), 'Risky'), colours.bad('reaches the network'))
  t.equal(row(asked('careful'), 'Careful'), colours.needs('reaches the network'))
  t.end()
})

t.test('ten lines of a command are shown in full, and of a longer one nine', t => {
  const asked = (count: number) => {
    const title = Array.from({ length: count }, (_, index) => `echo ${index}`).join('\n')
    const lines = draw({ isWorking: true, questions: [{ title }] })
    return lines.slice(lines.findIndex(line => line.includes('Needs you'))).map(line => line.slice(13))
  }
  t.equal(asked(10)[9], 'echo 9')
  t.strictSame(asked(11).slice(0, 10), [...Array.from({ length: 9 }, (_, index) => `echo ${index}`), 'The rest is on your phone.'])
  t.end()
})

t.test('of a long note or trouble four lines are shown, and a log says nothing of who watches', t => {
  const lines = draw({ note: 'word '.repeat(100), trouble: 'word '.repeat(100) })
  const from = (label: string) => lines.findIndex(line => line.includes(label))
  t.equal(from('Link') - from('Note'), 4)
  t.equal(lines.indexOf('', from('Trouble')) - from('Trouble'), 4)
  t.notMatch(draw({ isLog: true, watching: 2 }).join('\n'), 'Watching')
  t.match(draw({ leftovers: 1 }).join('\n'), /Earlier +delivering messages of an earlier session$/m)
  t.match(draw({ stopping: 'asked' }).join('\n'), /^ {2}Ctrl-C again ends the session\.$/m)
  t.match(draw({ stopping: 'ending' }).join('\n'), /Link +live$/m)
  t.match(draw({ waiting: 2 }).join('\n'), /Link +live$/m)
  t.match(draw({ isWorking: true, workingMs: 59_999 }).join('\n'), /working, 59 s$/m)
  t.match(draw({ isWorking: true, workingMs: 60_000 }).join('\n'), /working, 1 min 00 s$/m)
  t.end()
})

t.test('an address too long for its row gets rows of its own, as wide as the screen', t => {
  const address = 'https://home.example/s/cmabc'
  t.match(draw({}, 42).join('\n'), new RegExp(`Phone +${address}$`, 'm'))
  const lines = draw({}, 21)
  const at = lines.findIndex(line => line.includes('Phone'))
  t.strictSame(lines.slice(at + 1, at + 3), [address.slice(0, 20), address.slice(20)])
  t.end()
})
