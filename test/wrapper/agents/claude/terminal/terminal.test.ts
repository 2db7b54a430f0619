import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../../lib/async/clock.ts'
import { pause } from '../../../../../lib/async/pause.ts'
import type { AgentEvent, HistoryPosition } from '../../../../../lib/wrapper/agents/agent.ts'
import type { HeadlessProbe } from '../../../../../lib/wrapper/agents/claude/headless-probe.ts'
import { startTerminalClaude } from '../../../../../lib/wrapper/agents/claude/terminal/terminal.ts'
import type { Missing } from '../../../../../lib/wrapper/agents/claude/terminal/turn.ts'
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
  const { claude, hook, told, events, keys } = await atTerminal(t, { commandIn: async text => (text === '/login' ? 'other' : undefined) })
  await keys('')
  t.equal(await claude.type('/login'), false)
  await keys('')
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
    t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })
    t.strictSame(waits.splice(0), Array(escapes).fill(3_000), title)
    await keys('\x1b'.repeat(escapes))
    await claude.end()
    waits.length = 0
    clock.restore()
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

t.test('what is recorded is told: prompts, steps, words, and what else it says of the conversation', how, async t => {
  const { claude, record, told, events, missing } = await atTerminal(t, { windowOf: async model => (model === 'deep' ? 100 : undefined) })
  record(
    { type: 'permission-mode', permissionMode: 'plan' },
    { type: 'ai-title', aiTitle: 'Tea' },
    { type: 'attachment', uuid: 'g', sessionId: 'one', attachment: { type: 'goal_status', met: false, condition: 'Tea' } },
    { type: 'user', uuid: 'u', message: { content: 'go' } },
    answered({ type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'make' } }, 'a'),
    { type: 'user', uuid: 'r', message: { content: [{ type: 'tool_result', tool_use_id: 'c', content: 'made' }] } },
    answered({ type: 'text', text: 'Done.' }, 'b', 'end_turn')
  )
  await told('modes')
  t.equal(claude.mode, 'plan')
  await told('title')
  await told('goal')
  t.strictSame(await told('prompted'), { type: 'prompted', text: 'go', isOurs: false, row: 'u 0' })
  await told('step-started')
  t.match(await told('step-ended'), { status: 'completed', step: { title: 'make' } })
  t.match(await told('text'), { text: 'Done.', block: 'b 0' })
  t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'done' }, 'without a hook nothing else says so')
  t.strictSame(missing, ['hooks'])
  t.equal(claude.hasHistory, true)
  record({ ...answered({ type: 'text', text: 'More.' }, 'd'), message: { model: 'deep', usage: { input_tokens: 5 }, content: 'More.' } })
  t.match(await told('usage'), { used: 5, size: 100 })
  t.notOk(
    events().some(({ type }) => type === 'turn-ended'),
    'and none ends without its last words'
  )
})

t.test('a turn that hooks are heard of ends by them, whatever is recorded', how, async t => {
  const { hook, record, told, events, missing } = await atTerminal(t)
  await hook('UserPromptSubmit', { prompt: 'go' })
  record({ type: 'user', uuid: 'u', message: { content: 'go' } }, answered({ type: 'text', text: 'Done.' }, 'a', 'end_turn'))
  await told('text')
  t.strictSame(events(), [])
  await hook('Stop', { last_assistant_message: 'Done.' })
  t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'done' })
  t.strictSame(missing, [])
})

t.test('an interruption that is recorded ends the turn once all with it was told', how, async t => {
  const { hook, record, told, read } = await atTerminal(t)
  await hook('UserPromptSubmit', { prompt: 'go' })
  record({ type: 'user', uuid: 'i', message: { content: '[Request interrupted by user]' } })
  t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })
  t.ok((read().at(-1)?.offset ?? 0) > 0)
  record(
    { type: 'user', uuid: 'u', message: { content: 'again' } },
    { type: 'user', uuid: 'j', message: { content: '[Request interrupted by user]' } },
    { type: 'user', uuid: 'v', message: { content: 'and again' } },
    answered({ type: 'text', text: 'Done.' }, 'a')
  )
  await told('prompted')
  t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })
  t.match(await told('prompted'), { text: 'and again' }, 'after the end of the turn before')
  await told('text')
  await hook('Stop', {})
  t.strictSame(await told('turn-ended'), { type: 'turn-ended', reason: 'done' }, 'a recorded prompt began it')
})

t.test('a command is a prompt if it was submitted as one', how, async t => {
  const { hook, record, told } = await atTerminal(t)
  const command = (uuid: string, name: string) => ({ type: 'user', uuid, message: { content: `<command-name>/${name}</command-name>` } })
  record(command('u', 'mine'), answered({ type: 'text', text: 'Nothing.' }, 'a'))
  await told('text')
  await hook('UserPromptSubmit', { prompt: '/mine' })
  record(command('v', 'other'), command('w', 'mine'))
  t.match(await told('prompted'), { text: '/mine', row: 'w 0' })
  await hook('Stop', {})
})

t.test('a text grows and keeps its name, is cut off with its turn, and forgotten with the next', how, async t => {
  const { claude, hook, record, told, events, pid, keys } = await atTerminal(t)
  await keys('')
  const grow = (message_id: string, delta: string) => hook('MessageDisplay', { message_id, index: 0, delta })
  await hook('UserPromptSubmit', { prompt: 'go' })
  await grow('m', 'Do')
  t.match(await told('text-grew'), { block: 'live m 0', text: 'Do' })
  record(answered({ type: 'text', text: 'Done.' }, 'a'))
  t.match(await told('text'), { block: 'live m 0', text: 'Done.' })
  await grow('n', 'Mo')
  await hook('UserPromptSubmit', { prompt: 'said meanwhile' })
  await told('text-grew')
  process.kill(pid(), 'SIGKILL')
  await claude.ended
  t.match(events(), [
    { type: 'text', block: 'live n 0', text: 'Mo', isCut: true },
    { type: 'turn-ended', reason: 'failed' }
  ])

  const other = await atTerminal(t)
  await other.keys('')
  await other.hook('UserPromptSubmit', { prompt: 'go' })
  await other.hook('MessageDisplay', { message_id: 'm', index: 0, delta: 'Do' })
  await other.hook('Stop', {})
  await other.told('turn-ended')
  await other.hook('UserPromptSubmit', { prompt: 'again' })
  process.kill(other.pid(), 'SIGKILL')
  await other.claude.ended
  t.match(other.events(), [{ type: 'turn-ended' }])
})

t.test('a dialog answered at the terminal is closed by what its tool does then', how, async t => {
  const { hook, record, told } = await atTerminal(t)
  await hook('UserPromptSubmit', { prompt: 'go' })
  const asked = async (call: string, tool_name = 'Bash', tool_input: object = { command: call }) => {
    await hook('PreToolUse', { tool_use_id: call, tool_name, tool_input })
    record(answered({ type: 'tool_use', id: call, name: tool_name, input: tool_input }, call))
    void hook('PermissionRequest', { tool_name, tool_input })
    await told(tool_name === 'Bash' ? 'permission-asked' : 'question-asked')
  }
  const result = (call: string, about: object) => ({
    ...{ type: 'user', uuid: `${call} ends` },
    message: { content: [{ type: 'tool_result', tool_use_id: call, content: '', ...about }] }
  })
  const closed = (ask: string, approved: boolean) => ({ type: 'permission-closed', ask, approved })
  for (const event of ['PostToolUse', 'PostToolUseFailure']) {
    await asked(event)
    await hook(event, { tool_use_id: event })
    t.strictSame(await told('permission-closed'), closed(event, true))
  }
  for (const [call, about, approved] of [
    ['made', {}, true],
    ['found', { is_error: false }, true],
    ['denied', { is_error: true }, false]
  ] as const) {
    await asked(call)
    record(result(call, about))
    t.strictSame(await told('permission-closed'), closed(call, approved))
  }
  const form = { questions: [{ question: 'Which?', options: [{ label: 'Red' }] }] }
  await asked('form', 'AskUserQuestion', form)
  await hook('PostToolUse', { tool_use_id: 'form', tool_input: { ...form, answers: { 'Which?': 'Red' } } })
  t.match(await told('question-closed'), { ask: 'form', answers: { 'Which?': { values: ['Red'] } } })
  await hook('Stop', {})
})

t.test('a file is shown as it was before Claude Code overwrote it', how, async t => {
  const { home, hook, record, told } = await atTerminal(t)
  const file = join(home, 'a.txt')
  const input = { file_path: file, content: 'new' }
  writeFileSync(file, 'old')
  await hook('PreToolUse', { tool_use_id: 'c', tool_name: 'Write', tool_input: input })
  writeFileSync(file, 'new')
  record(answered({ type: 'tool_use', id: 'c', name: 'Write', input }, 'a'))
  t.match(await told('step-started'), { step: { content: [{ type: 'diff', oldText: 'old', newText: 'new' }] } })
})

t.test('a conversation switched to is followed in its own file', how, async t => {
  const { home, hook, told } = await atTerminal(t)
  const transcript_path = join(home, 'two.jsonl')
  writeFileSync(transcript_path, `${JSON.stringify(answered({ type: 'text', text: 'Done.' }, 'a'))}\n`)
  await hook('Notification', { session_id: 'two', transcript_path })
  t.match(await told('text'), { text: 'Done.' })
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
    probe: { commands: async () => [], commandIn: async () => undefined, windowOf: async () => undefined }
  }
}

function answered(block: object, uuid: string, stop_reason?: string): object {
  return { type: 'assistant', uuid, message: { content: [block], stop_reason } }
}

/** Claude Code at its terminal; `row` is already in the transcript of its conversation. */
async function atTerminal(t: Test, probe: Partial<HeadlessProbe> = {}, row?: object, title = '') {
  const home = t.testdir()
  const program = join(home, 'claude')
  const says = `\x1b[?2004h${title && `\x1b]0;${title}\x07`}`
  writeFileSync(program, `#!/bin/sh\nstty raw -echo\necho $$ > pid\n: > keys\nprintf '%s' '${says}'\nexec cat > keys\n`)
  chmodSync(program, 0o700)
  const options = optionsIn(home)
  const file = transcriptFile(options.env, home, 'one')
  const record = (...rows: readonly object[]) => {
    mkdirSync(dirname(file), { recursive: true })
    appendFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  }
  if (row) record(row)
  const missing: Missing[] = []
  const read: HistoryPosition[] = []
  const events: AgentEvent[] = []
  let heard = () => {}
  const claude = await startTerminalClaude({
    ...options,
    claude: program,
    probe: { ...options.probe, ...probe },
    emit(event) {
      if (event.type === 'history-read') read.push(event.upTo)
      else events.push(event)
      heard()
    },
    onMissing: what => void missing.push(what)
  })
  t.teardown(() => claude.end())
  const [folder = ''] = readdirSync(join(home, 'hooks'))
  const { hooks } = JSON.parse(readFileSync(join(home, 'hooks', folder, 'settings.json'), 'utf8'))
  return {
    home,
    record,
    missing,
    read: () => read,
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
