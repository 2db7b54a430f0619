import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../../lib/async/clock.ts'
import { pause } from '../../../../../lib/async/pause.ts'
import type { AgentEvent } from '../../../../../lib/wrapper/agents/agent.ts'
import type { HeadlessProbe } from '../../../../../lib/wrapper/agents/claude/headless-probe.ts'
import { startTerminalClaude } from '../../../../../lib/wrapper/agents/claude/terminal/terminal.ts'
import { transcriptFile } from '../../../../../lib/wrapper/agents/claude/transcript/transcript.ts'

// A program that only waits: what Claude Code reports comes from the test, through its hooks.
const how = { skip: process.platform === 'win32' && 'the program is a script' }

t.test('a failed turn says why, in the words of Claude Code if it has any', how, async t => {
  const { hook, told } = await atTerminal(t)
  const signIn =
    'Claude Code is not signed in, or its key was rejected. Run it once in a terminal on this computer and sign in there (/login), then send this again.'
  const cases: [failure: object, error: string][] = [
    [{ error: 'authentication_failed' }, signIn],
    [{}, 'Claude Code could not continue.'],
    [{ error: 'overloaded', last_assistant_message: ' \n' }, 'Claude Code could not continue.']
  ]
  for (const [failure, error] of cases) {
    await hook('UserPromptSubmit', { prompt: 'go' })
    await hook('StopFailure', failure)
    t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'failed', error })
  }
})

t.test('a question at the terminal is answered from outside, or closed there', how, async t => {
  const { claude, hook, told } = await atTerminal(t)
  await hook('UserPromptSubmit', { prompt: 'go' })
  const input = { questions: [{ question: 'Which?', options: [{ label: 'Red' }] }] }
  const reply = hook('PermissionRequest', { tool_name: 'AskUserQuestion', tool_input: input })
  const { asked } = await told('question-asked')
  t.equal(claude.answer(asked.ask, 'allow'), false)
  t.equal(claude.answerQuestion(asked.ask, { 'Which?': { values: ['Red'] } }), true)
  t.match(await reply, { hookSpecificOutput: { decision: { behavior: 'allow', updatedInput: { answers: { 'Which?': 'Red' } } } } })
  t.equal(claude.answerQuestion(asked.ask, {}), false)

  const use = { tool_name: 'Bash', tool_input: { command: 'make' } }
  const denied = hook('PermissionRequest', use)
  const permission = await told('permission-asked')
  t.equal(claude.answer(permission.asked.ask, 'deny', 'later'), true)
  t.match(await denied, { hookSpecificOutput: { decision: { behavior: 'deny', message: /: later$/ } } })
  const open = hook('PermissionRequest', use)
  await told('permission-asked')
  await hook('Stop', {})
  t.strictSame(await open, {})
})

t.test('the mode and the conversation that it reports are told when they change', how, async t => {
  const { claude, hook, events } = await atTerminal(t)
  await hook('Notification', { permission_mode: 'default', session_id: 'one' })
  t.strictSame(events(), [])
  await hook('Notification', { permission_mode: 'plan', session_id: 'two' })
  await hook('Notification', {})
  t.match(events(), [
    { type: 'conversation', id: 'two' },
    { type: 'modes', modes: { current: 'plan' } }
  ])
  t.equal(events().length, 2)
  t.strictSame([claude.mode, claude.conversation, claude.hasHistory], ['plan', 'two', false])
})

t.test('nothing is typed into a dialog, and no command that only works at the terminal', how, async t => {
  const { claude, hook, told, events } = await atTerminal(t, { commandIn: async text => (text === '/login' ? 'other' : undefined) })
  t.equal(await claude.type('/login'), false)
  t.equal(await claude.changeGoal('x'.repeat(500)), false, 'it would be a paste, which is no command')
  void hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'make' } })
  await told('permission-asked')
  t.equal(await claude.type('hello'), false)
  t.equal(await claude.changeGoal('tea'), false)
  await hook('UserPromptSubmit', { prompt: 'go' })
  await hook('Stop', {})
  await told('turn-ended')
  t.equal(await claude.changeGoal('tea'), true)
  t.equal(
    events().some(({ type }) => type === 'prompted'),
    false
  )
})

t.test('the goal of an earlier run and the commands of this version are known at once', how, async t => {
  const goal = { type: 'attachment', uuid: 'u', sessionId: 'one', attachment: { type: 'goal_status', met: false, condition: 'Tea' } }
  const commands = [{ name: 'review', description: 'Looks' }]
  const { told, events } = await atTerminal(t, { commands: async () => commands }, goal)
  t.match(events()[0], { type: 'goal', goal: { status: 'active', text: 'Tea' } })
  t.strictSame(await told('commands'), { type: 'commands', commands })
})

t.test('its end stops the turn with Esc, and is over when everything was told', how, async t => {
  const { claude, hook, events, keys, files } = await atTerminal(t)
  await keys('')
  await hook('UserPromptSubmit', { prompt: 'go' })
  const ending = claude.end()
  await keys('\x1b')
  await hook('Stop', {})
  await ending
  t.strictSame(events(), [{ type: 'turn-ended', reason: 'done' }])
  t.strictSame(files(), [], 'nor are its settings left')
})

t.test('a turn that does not stop is stopped again if it is busy, and then counts as cancelled', how, async t => {
  const { after } = systemClock
  const waits: number[] = []
  for (const [title, escapes] of [
    ['\u2733 idle', 1],
    ['\u2802 busy', 2]
  ] as const) {
    const { claude, hook, told, keys } = await atTerminal(t, {}, undefined, title)
    await keys('')
    await hook('UserPromptSubmit', { prompt: 'go' })
    const clock = t.capture(systemClock, 'after', (ms: number, run: () => void) => {
      waits.push(ms)
      return after(10, run)
    })
    await claude.interrupt()
    clock.restore()
    t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })
    t.strictSame(waits.splice(0), Array(escapes).fill(3_000), title)
    await keys('\x1b'.repeat(escapes))
  }
})

t.test('a turn during which Claude Code dies has failed, and says how it died', how, async t => {
  const { claude, hook, told, keys, pid } = await atTerminal(t)
  await keys('')
  await hook('UserPromptSubmit', { prompt: 'go' })
  process.kill(pid(), 'SIGKILL')
  const error = 'Claude Code exited unexpectedly (killed by SIGKILL).'
  t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'failed', error })
  t.strictSame(await claude.ended, { type: 'died', how: 'killed by SIGKILL' })
})

t.test('what rests is not stopped', how, async t => {
  const { claude, events, keys } = await atTerminal(t)
  await keys('')
  await claude.interrupt()
  await claude.end()
  await keys('')
  t.match(await claude.ended, { type: 'died', how: /^killed by / })
  t.strictSame(events(), [])
})

function optionsIn(home: string) {
  return {
    home,
    directory: home,
    env: { HOME: home, CLAUDE_CONFIG_DIR: join(home, 'config'), PATH: process.env['PATH'] ?? '' },
    console: { columns: 80, rows: 24, write() {}, takeKeys: () => () => {}, onResize: () => () => {} },
    announcement: '',
    conversation: { id: 'one', isOld: false },
    mode: 'default',
    probe: { commands: async () => [], commandIn: async () => undefined, windowOf: async () => undefined },
    onMissing() {}
  }
}

/** Claude Code at its terminal; `row` is already in the transcript of its conversation. */
async function atTerminal(t: Test, probe: Partial<HeadlessProbe> = {}, row?: object, title = '') {
  const home = t.testdir()
  const program = join(home, 'claude')
  const says = `\x1b[?2004h${title && `\x1b]0;${title}\x07`}`
  writeFileSync(program, `#!/bin/sh\nstty raw -echo\necho $$ > pid\n: > keys\nprintf '%s' '${says}'\nexec cat > keys\n`)
  chmodSync(program, 0o700)
  const options = optionsIn(home)
  if (row) {
    const file = transcriptFile(options.env, home, 'one')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(row)}\n`)
  }
  const events: AgentEvent[] = []
  let heard = () => {}
  const claude = await startTerminalClaude({
    ...options,
    claude: program,
    probe: { ...options.probe, ...probe },
    emit(event) {
      if (event.type !== 'history-read') events.push(event)
      heard()
    }
  })
  t.teardown(() => claude.end())
  const [folder = ''] = readdirSync(join(home, 'hooks'))
  const { hooks } = JSON.parse(readFileSync(join(home, 'hooks', folder, 'settings.json'), 'utf8'))
  return {
    claude,
    events: () => events,
    pid: () => Number(readFileSync(join(home, 'pid'), 'utf8')),
    files: () => readdirSync(join(home, 'hooks')),
    /** Resolves once the program runs, and these and no other keys were typed. */
    async keys(typed: string): Promise<void> {
      const file = join(home, 'keys')
      while (!existsSync(file) || readFileSync(file, 'utf8') !== typed) await pause(5)
    },
    async hook(name: string, about: object): Promise<object> {
      const [{ url, headers }] = hooks[name][0].hooks
      const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ hook_event_name: name, ...about }) })
      return (await reply.json()) as object
    },
    /** The next event of this type. Those before it are forgotten. */
    async told<Type extends AgentEvent['type']>(type: Type): Promise<Extract<AgentEvent, { type: Type }>> {
      for (;;) {
        const at = events.findIndex(event => event.type === type)
        if (at >= 0) return events.splice(0, at + 1).at(-1) as Extract<AgentEvent, { type: Type }>
        await new Promise<void>(resolve => (heard = resolve))
      }
    }
  }
}
