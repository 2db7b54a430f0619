import t from 'tap'
import { openOwnScreen } from '../../../../../lib/wrapper/agents/claude/terminal/screen.ts'

/** A console that a test types into, and how many listen to it. */
function openConsole() {
  let type = (_: Buffer) => {}
  const listening = new Set<string>()
  const listen = (to: string) => {
    listening.add(to)
    return () => void listening.delete(to)
  }
  return {
    listening,
    type: (keys: string) => type(Buffer.from(keys)),
    console: {
      ...{ columns: 80, rows: 24, write() {}, onResize: () => listen('sizes') },
      takeKeys(listener: (keys: Buffer) => void) {
        type = listener
        return listen('keys')
      }
    }
  }
}

const skip = process.platform === 'win32' && 'the program is a script'

t.test('how the screen of an agent ended is known, and the console is given back', { skip }, async t => {
  const rows: [why: string, script: string, wasHeard: boolean, keys: string | undefined, end: object][] = [
    ['left by its person', 'exit 0', true, undefined, { type: 'left' }],
    ['refused before anything was heard of it', 'exit 3', false, undefined, { type: 'refused', how: /3/ }],
    ['died once it was heard', 'exit 3', true, undefined, { type: 'died', how: /3/ }],
    ['died once somebody typed', 'read line; exit 3', false, 'a\r', { type: 'died', how: /3/ }],
    ['ended by a signal', 'kill -9 $$', false, undefined, { type: 'died', how: /9|KILL/ }]
  ]
  for (const [why, script, wasHeard, keys, end] of rows) {
    const { console, listening, type } = openConsole()
    const program = { command: '/bin/sh', args: ['-c', script], directory: t.testdir(), env: { PATH: process.env['PATH'] ?? '' } }
    const screen = openOwnScreen(program, console, () => wasHeard)
    t.same([...listening].toSorted(), ['keys', 'sizes'], why)
    if (keys !== undefined) type(keys)
    t.match(await screen.ended, end, why)
    t.same([...listening], [], why)
  }
})

t.test('whether it works shows in its status file, or for a version without one in its title', { skip }, async t => {
  const directory = t.testdir({ sessions: {} })
  const env = { PATH: process.env['PATH'] ?? '', CLAUDE_CONFIG_DIR: directory }
  const title = (text: string) => `printf '\\033]0;${text}\\007'`
  const file = (status: string) => `printf '%s' '${status}' > "$CLAUDE_CONFIG_DIR/sessions/$$.json"`
  const rows: [shows: string, status: string | undefined][] = [
    [':', undefined],
    [title('\u2733 Claude Code'), 'idle'],
    [title('\u2802 Claude Code'), 'busy'],
    [`${title('\u2802 Tea')}; ${title('\u2733 Tea')}`, 'idle'],
    [title('make'), undefined],
    [`${title('\u2802 Tea')}; ${title('make')}`, 'busy'],
    [`${title('\u2802 Tea')}; ${file('{"status":"waiting"}')}`, 'waiting'],
    [`${title('\u2802 Tea')}; ${file('{"status":"sleeping"}')}`, 'busy'],
    [file('{"status"'), undefined]
  ]
  for (const [shows, status] of rows) {
    const { console } = openConsole()
    // What it shows is complete once it asks for pasted text.
    const script = `${shows}; printf '\\033[?2004h'; read line`
    const screen = openOwnScreen({ command: '/bin/sh', args: ['-c', script], directory, env }, console, () => true)
    await screen.isReady
    await new Promise(resolve => setImmediate(resolve))
    t.equal(screen.status, status, shows)
    screen.write('\r')
    await screen.ended
  }
})
