import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../lib/async/clock.ts'
import { pause } from '../../../../lib/async/pause.ts'
import { BoundedQueue } from '../../../../lib/async/queue.ts'
import { type Agent, AgentDied, type AgentEvent, type StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { modesAt } from '../../../../lib/wrapper/agents/claude/modes.ts'
import { withoutIt } from '../../../../lib/wrapper/agents/claude/terminal/turn.ts'
import { transcriptFile } from '../../../../lib/wrapper/agents/claude/transcript/transcript.ts'
import { startTwoModes } from '../../../../lib/wrapper/agents/claude/two-modes.ts'

// Programs that only wait at a terminal nobody sees, and another agent for the phone.
const how = { skip: process.platform === 'win32' && 'the program is a script' }

t.test('a switch requested while the session closes starts nothing', how, async t => {
  const { promise: isRemoteAsked, resolve: remoteAsked } = Promise.withResolvers<void>()
  const remote = Promise.withResolvers<Agent>()
  const { agent, screenStarts } = await atTerminal(t, {
    // It ends at once at its terminal, so it continues on the phone.
    claude: '/bin/false',
    startRemote() {
      remoteAsked()
      return remote.promise
    }
  })
  await isRemoteAsked
  const stopped = agent.stop()
  const switched = agent.handover?.toTerminal()
  remote.resolve(quietAgent())
  await Promise.all([stopped, switched])
  t.equal(screenStarts(), 1)
})

t.test('a choice made while it is at its terminal applies on the phone; what is not there then is said', how, async t => {
  const asked: string[] = []
  const started: StartAgent[] = []
  const choosing = (set: boolean): Partial<Agent> => ({
    setModel: async model => asked.push(`model ${model}`) > 0 && set,
    setEffort: async effort => asked.push(`effort ${effort}`) > 0 && set
  })
  const remotes = [quietAgent(choosing(true)), quietAgent(choosing(false)), quietAgent()]
  const { agent, notices } = await atTerminal(t, {
    async startRemote(how) {
      started.push(how)
      return remotes[started.length - 1] ?? quietAgent()
    }
  })
  const choose = async () => [await agent.setMode('plan'), await agent.setModel?.('deep'), await agent.setEffort?.('high')]
  t.equal(agent.handover?.by, 'terminal')
  t.strictSame([agent.takesImages, agent.hearsReasons, agent.steer], [false, true, undefined])
  t.equal(await agent.setMode('default'), true, 'which it is in')
  t.strictSame(await choose(), [false, 'later', 'later'])
  t.strictSame(asked, [])
  await agent.handover?.toPhone()
  t.match(started, [{ mode: 'plan', resume: undefined, isUnsent: false }])
  t.strictSame(asked, ['model deep', 'effort high'])
  t.strictSame(await notices(), [])

  await agent.handover?.toTerminal()
  await agent.handover?.toPhone()
  t.match(started[1], { mode: 'default' })
  t.equal(asked.length, 2, 'once')
  await agent.handover?.toTerminal()
  await choose()
  remotes[2] = quietAgent(choosing(false))
  await agent.handover?.toPhone()
  t.strictSame(await notices(), [
    'The agent has no model deep; nothing was changed.',
    'The agent has no effort level high; nothing was changed.'
  ])
})

t.test('with the phone in control everything goes to the agent there, as far as that can do it', how, async t => {
  const calls: unknown[][] = []
  const note =
    <Result>(name: string, result: Result) =>
    (...args: unknown[]) => {
      calls.push([name, ...args])
      return result
    }
  const able = quietAgent({
    takesImages: true,
    prompt: note('prompt', Promise.resolve(true)),
    steer: note('steer', Promise.resolve(true)),
    answer: note('answer', true),
    answerQuestion: note('answerQuestion', true),
    setMode: note('setMode', Promise.resolve(true)),
    setModel: note('setModel', Promise.resolve(true)),
    setEffort: note('setEffort', Promise.resolve(true)),
    changeGoal: note('changeGoal', Promise.resolve('/goal tea')),
    cancel: note('cancel', Promise.resolve())
  })
  const { agent } = await atTerminal(t, { startRemote: async () => able })
  const answers = { id: { values: ['a'] } }
  t.strictSame([agent.answer('ask', 'yes'), agent.answerQuestion?.('ask', answers)], [false, false], 'nothing is open at the terminal')
  await agent.handover?.toPhone()
  const images = [{ mimeType: 'image/png', bytes: new Uint8Array(1) }]
  t.strictSame([agent.handover?.by, agent.conversation, agent.takesImages, agent.hearsReasons], ['phone', 'quiet', true, false])
  t.strictSame(
    [
      await agent.prompt('go', images),
      await agent.steer?.('faster'),
      agent.answer('ask', 'yes', 'a reason that it does not hear'),
      agent.answerQuestion?.('ask', answers),
      await agent.setMode('plan'),
      await agent.setModel?.('deep'),
      await agent.setEffort?.('high'),
      await agent.changeGoal?.('tea')
    ],
    [true, true, true, true, true, true, true, '/goal tea']
  )
  await agent.cancel()
  t.strictSame(calls, [
    ['prompt', 'go', images],
    ['steer', 'faster'],
    ['answer', 'ask', 'yes'],
    ['answerQuestion', 'ask', answers],
    ['setMode', 'plan'],
    ['setModel', 'deep'],
    ['setEffort', 'high'],
    ['changeGoal', 'tea'],
    ['cancel']
  ])

  const unable = await atTerminal(t, { startRemote: async () => quietAgent() })
  await unable.agent.handover?.toPhone()
  t.strictSame(
    [
      unable.agent.takesImages,
      unable.agent.steer,
      unable.agent.answerQuestion?.('ask', answers),
      await unable.agent.setModel?.('deep'),
      await unable.agent.setEffort?.('high'),
      await unable.agent.changeGoal?.('tea')
    ],
    [false, undefined, false, false, false, undefined]
  )
})

t.test('an agent that does not start for the phone stays at its terminal, and says why', how, async t => {
  const { agent, notices, events, screenStarts } = await atTerminal(t, {
    async startRemote() {
      throw new Error('No adapter.')
    }
  })
  await agent.handover?.toPhone()
  t.strictSame(await notices(), ['Claude Code could not switch to the phone and stays at its terminal. No adapter.'])
  t.equal(agent.handover?.by, 'terminal')
  t.equal(screenStarts(), 2)
  t.strictSame(
    (await events()).flatMap(event => (event.type === 'controlled' ? event.by : [])),
    ['terminal', 'phone', 'terminal']
  )
})

t.test('a Claude Code that refuses to start at its terminal gets its first prompt on the phone', how, async t => {
  const { promise: prompted, resolve } = Promise.withResolvers<string>()
  const { notices, events } = await atTerminal(t, {
    claude: '/bin/false',
    prompt: 'go',
    startRemote: async () => quietAgent({ prompt: async text => resolve(text) === undefined })
  })
  t.equal(await prompted, 'go')
  t.strictSame(await notices(), [
    'Claude Code did not start at its terminal (exit code 1), so it continues on your phone. Afield may not support its version yet.'
  ])
  t.match(
    (await events()).filter(({ type }) => type === 'prompted'),
    [{ text: 'go', isOurs: false }]
  )
})

t.test('an agent that dies with the phone in control ends the session; one that was switched from does not', how, async t => {
  const dying = quietAgent()
  const gone = quietAgent()
  const remotes = [gone, dying]
  const { agent, ended } = await atTerminal(t, { startRemote: async () => remotes.shift() ?? quietAgent() })
  await agent.handover?.toPhone()
  await agent.handover?.toTerminal()
  gone.events.fail(new Error('too late'))
  await agent.handover?.toPhone()
  dying.events.fail(new AgentDied('exit code 1', ''))
  t.match(await ended, { message: 'The agent exited unexpectedly (exit code 1).' })
})

t.test('what is chosen or said during a switch waits for its end', how, async t => {
  const calls: string[] = []
  const note = (name: string) => async (what: string | undefined) => calls.push(`${name} ${what}`) > 0
  const able = { prompt: note('prompt'), setMode: note('mode'), setModel: note('model'), setEffort: note('effort') }
  const changeGoal = async (objective: string | undefined) => objective
  const { promise: isRemoteAsked, resolve: remoteAsked } = Promise.withResolvers<void>()
  const remote = Promise.withResolvers<Agent>()
  const { agent } = await atTerminal(t, {
    startRemote() {
      remoteAsked()
      return remote.promise
    }
  })
  const switched = agent.handover?.toPhone()
  await isRemoteAsked
  const said = [agent.prompt('go'), agent.setMode('plan'), agent.setModel?.('deep'), agent.setEffort?.('high'), agent.changeGoal?.('tea')]
  remote.resolve(quietAgent({ ...able, changeGoal }))
  await switched
  t.strictSame(await Promise.all(said), [true, true, true, true, 'tea'])
  t.strictSame(calls, ['prompt go', 'mode plan', 'model deep', 'effort high'])
})

t.test('its screen opens once the agent on the phone has stopped', how, async t => {
  const stopped = Promise.withResolvers<void>()
  const remote = quietAgent()
  const { promise: isStopping, resolve: stops } = Promise.withResolvers<void>()
  Object.assign(remote, {
    stop() {
      remote.events.close()
      stops()
      return stopped.promise
    }
  })
  const { agent, screenStarts, starts } = await atTerminal(t, { startRemote: async () => remote })
  await agent.handover?.toPhone()
  const switched = agent.handover?.toTerminal()
  await isStopping
  await new Promise(resolve => setImmediate(resolve))
  t.equal(screenStarts(), 1)
  stopped.resolve()
  await switched
  t.equal(screenStarts(), 2)
  await starts()
})

t.test('at its terminal a message is typed, and accepted once Claude Code says so', how, async t => {
  const { agent, hook, keys, started } = await atTerminal(t)
  const prompted = agent.prompt('hello')
  await keys(typing('hello'))
  await hook('UserPromptSubmit', { prompt: 'hello' })
  t.equal(await prompted, true)
  const cancelled = agent.cancel()
  await keys(`${typing('hello')}\x1b`)
  await hook('Stop', {})
  await cancelled
  t.strictSame(started, [])
})

t.test('what cannot be typed because of a dialog goes to the phone, or to its screen once that is open again', how, async t => {
  for (const canSwitch of [true, false]) {
    const prompts: unknown[][] = []
    const { agent, hook, keys, told, starts } = await atTerminal(t, {
      async startRemote() {
        if (!canSwitch) throw new Error('No adapter.')
        return quietAgent({ prompt: async (...args) => prompts.push(args) > 0 })
      }
    })
    await starts()
    hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'make' } }).catch(() => {})
    await told('permission-asked')
    const images = [{ mimeType: 'image/png', bytes: new Uint8Array(1) }]
    const prompted = agent.prompt('hello', images)
    if (!canSwitch) {
      await starts(2)
      await keys(typing('hello'))
      await hook('UserPromptSubmit', { prompt: 'hello' })
      await hook('Stop', {})
    }
    t.equal(await prompted, true)
    t.strictSame(prompts, canSwitch ? [['hello', images]] : [])
  }
})

t.test('a message that Claude Code had while it was switched to the phone is not sent to it twice', how, async t => {
  const { after } = systemClock
  const prompts: string[] = []
  const { agent, keys, record, notices, started } = await atTerminal(t, {
    startRemote: async () => quietAgent({ prompt: async text => prompts.push(text) > 0 })
  })
  const { promise: isWaiting, resolve: waits } = Promise.withResolvers<() => void>()
  t.capture(systemClock, 'after', (ms: number, run: () => void) => {
    if (ms !== 6_000) return after(ms, run)
    waits(run)
    return () => {}
  })
  const prompted = agent.prompt('hello')
  await keys(typing('hello'))
  const tooLate = await isWaiting
  record(agent.conversation ?? '', [{ type: 'user', uuid: 'u', message: { content: 'hello' } }])
  tooLate()
  t.equal(await prompted, true)
  t.strictSame(await notices(), ['Claude Code received this while switching to your phone and was interrupted. Send it again to continue.'])
  t.strictSame([prompts, started.length], [[], 1])
})

t.test('a dialog at the terminal is answered from the phone, with the reason', how, async t => {
  const { agent, hook, told } = await atTerminal(t)
  const denied = hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'make' } })
  const { asked } = await told('permission-asked')
  t.equal(agent.answer(asked.ask, 'deny', 'ask Ann'), true)
  t.match(await denied, { hookSpecificOutput: { decision: { behavior: 'deny', message: /: ask Ann$/ } } })
  t.equal(agent.answer(asked.ask, 'deny'), false)
  const input = { questions: [{ question: 'Which?', options: [{ label: 'Red' }] }] }
  const answered = hook('PermissionRequest', { tool_name: 'AskUserQuestion', tool_input: input })
  const form = await told('question-asked')
  t.equal(agent.answerQuestion?.(form.asked.ask, { 'Which?': { values: ['Red'] } }), true)
  t.match(await answered, { hookSpecificOutput: { decision: { updatedInput: { answers: { 'Which?': 'Red' } } } } })
})

t.test('a goal is typed at the terminal, unless a dialog is open there', how, async t => {
  const { agent, hook, keys, told } = await atTerminal(t)
  t.equal(await agent.changeGoal?.('tea'), undefined)
  await keys(typing('/goal tea'))
  hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'make' } }).catch(() => {})
  await told('permission-asked')
  await t.rejects(async () => agent.changeGoal?.('ice'), {
    message: 'This cannot be typed at its terminal now: a dialog is open there, or the text is too long. Take over on your phone first.'
  })
})

t.test('the phone goes on with the conversation and in the mode that the terminal was left in', how, async t => {
  const { agent, hook, started, starts, drawing, record, events } = await atTerminal(t)
  t.match((await starts())[0], new RegExp(`--session-id ${agent.conversation} --permission-mode default$`))
  t.strictSame((await events()).slice(0, 2), [
    { type: 'controlled', by: 'terminal' },
    { type: 'modes', modes: modesAt('default') }
  ])
  await agent.setMode('acceptEdits')
  const transcript_path = record('two', [answered('Done.')])
  await hook('Notification', { permission_mode: 'plan', session_id: 'two', transcript_path })
  await agent.handover?.toPhone()
  t.match(started, [{ mode: 'plan', resume: 'two' }], 'a choice at the terminal is the later one')
  t.match(started[0]?.env['PATH'], /./)
  t.strictSame(drawing(), [true, false])
  t.equal(agent.conversation, 'quiet')
  t.strictSame(
    (await events()).flatMap(event => (event.type === 'conversation' ? event.id : [])),
    ['two', 'quiet']
  )
  await agent.handover?.toTerminal()
  await agent.handover?.toPhone()
  t.equal((await events()).filter(({ type }) => type === 'conversation').length, 2, 'it is the same')
})

t.test('the terminal goes on with the conversation and in the mode of the phone', how, async t => {
  const said: [AgentEvent, which: string][] = [
    [{ type: 'text', block: 'b', text: 'Done.', thinking: false }, '--resume quiet'],
    [{ type: 'prompted', text: 'go', isOurs: true }, '--resume quiet'],
    [{ type: 'title', title: 'Tea' }, '--session-id quiet']
  ]
  for (const [event, which] of said) {
    const remote = quietAgent()
    const { agent, starts, events } = await atTerminal(t, { startRemote: async () => remote })
    await starts()
    await agent.handover?.toPhone()
    remote.events.offer(event)
    remote.events.offer({ type: 'modes', modes: modesAt('plan') })
    await agent.handover?.toTerminal()
    t.match((await starts(2))[1], new RegExp(`${which} --permission-mode plan$`))
    const told = (await events()).filter(({ type }) => type !== 'commands')
    t.strictSame(told.slice(-4), [
      { type: 'conversation', id: 'quiet' },
      event,
      { type: 'modes', modes: modesAt('plan') },
      { type: 'controlled', by: 'terminal' }
    ])
  }
})

t.test('a conversation is resumed if anything of it is recorded, and otherwise begun', how, async t => {
  for (const rows of [[answered('Done.')], undefined]) {
    const { agent, starts, started } = await atTerminal(t, { resume: 'old', ...(rows && { rows }) })
    t.match((await starts())[0], rows ? /--resume old --permission-mode/ : /--session-id old --permission-mode/)
    t.strictSame(agent.writesAt?.()?.offset, rows ? `${JSON.stringify(rows[0])}\n`.length : 0)
    await agent.handover?.toPhone()
    t.equal(started[0]?.resume, rows && 'old')
  }
})

t.test('a Claude Code that is not heard of goes to the phone, which says why; reopened, it stays at its screen', how, async t => {
  const { agent, starts, record, notices, told, started } = await atTerminal(t)
  await starts()
  record(agent.conversation ?? '', [{ type: 'user', uuid: 'u', message: { content: 'go' } }, answered('Done.')])
  await told('notice')
  await agent.handover?.toPhone()
  t.strictSame(await notices(), [withoutIt.hooks])
  t.equal(started.length, 1)
  await agent.handover?.toTerminal()
  await starts(2)
  const again = { ...answered('Again.'), uuid: 'b' }
  record('quiet', [{ type: 'user', uuid: 'v', message: { content: 'go' } }, again])
  await told('turn-ended', 2)
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame([await notices(), agent.handover?.by], [[withoutIt.hooks], 'terminal'])
})

t.test('its commands are those of the program, once it is ready', how, async t => {
  const { told } = await atTerminal(t)
  t.match((await told('commands')).commands, [{ name: 'review' }])
})

t.test('a warning is told at once', how, async t => {
  const { notices } = await atTerminal(t, { warning: 'This version is not known.' })
  t.strictSame(await notices(), ['This version is not known.'])
})

t.test('the session ends when its person leaves Claude Code, and fails when that dies', how, async t => {
  const ends: [script: string, error: object | undefined][] = [
    ['exit 0', undefined],
    ['kill -9 $$', { message: 'The agent exited unexpectedly (killed by SIGKILL).' }]
  ]
  for (const [script, error] of ends) {
    const { ended, started, drawing } = await atTerminal(t, { script })
    const end = await ended
    if (error) t.match(end, error)
    else t.equal(end, undefined)
    t.strictSame([started, drawing()], [[], [true, false]])
  }
})

t.test('a session that is closed ends whatever is in control, and then its events', how, async t => {
  const calls: string[] = []
  const remote = quietAgent()
  const controlled = {
    cancel: async () => void calls.push('cancel'),
    async stop() {
      calls.push('stop')
      remote.events.offer({ type: 'title', title: 'the last word' })
      remote.events.close()
    }
  }
  const { agent, ended, events } = await atTerminal(t, { startRemote: async () => Object.assign(remote, controlled) })
  await agent.handover?.toPhone()
  await agent.stop()
  t.equal(await ended, undefined)
  t.strictSame(calls, ['cancel', 'stop'])
  t.strictSame((await events()).at(-1), { type: 'title', title: 'the last word' })

  const there = await atTerminal(t)
  await there.starts()
  await there.agent.stop()
  t.equal(await there.ended, undefined)
  t.strictSame(there.drawing(), [true, false])
})

interface Fakes {
  /** The program at the terminal; one that only waits if omitted. */
  claude?: string
  /** What that does instead of waiting. */
  script?: string
  prompt?: string
  warning?: string
  /** The conversation to go on with, and what is recorded of it. */
  resume?: string
  rows?: readonly object[]
  startRemote?(how: StartAgent): Promise<Agent>
}

/** Claude Code at a terminal that nobody sees; the phone has another agent. */
async function atTerminal(t: Test, { claude, script, prompt, warning, resume, rows, startRemote }: Fakes = {}) {
  const home = mkdtempSync(join(tmpdir(), 'afield-two-modes-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const waiting = join(home, 'claude')
  const commands = { type: 'control_response', response: { response: { commands: [{ name: 'review' }] } } }
  const lines = [
    '#!/bin/sh',
    `if [ "$1" = -p ]; then echo '${JSON.stringify(commands)}'; exit; fi`,
    'echo "$*" >> args',
    'stty raw -echo',
    ': > keys',
    "printf '\\033[?2004h'",
    script ?? 'exec cat > keys'
  ]
  writeFileSync(waiting, `${lines.join('\n')}\n`, { mode: 0o700 })
  const env = { HOME: home, PATH: process.env['PATH'] ?? '' }
  const record = (conversation: string, rows: readonly object[]) => {
    const file = transcriptFile(env, realpathSync(home), conversation)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''), { flag: 'a' })
    return file
  }
  if (resume !== undefined && rows) record(resume, rows)
  const drawing: boolean[] = []
  const started: StartAgent[] = []
  const agent = await startTwoModes({
    home,
    claude: claude ?? waiting,
    screen: {
      console: { columns: 80, rows: 24, write() {}, takeKeys: () => () => {}, onResize: () => () => {} },
      prompt,
      announcement: '',
      onDrawing: isDrawing => void drawing.push(isDrawing)
    },
    how: { directory: home, env, ...(resume !== undefined && { resume }) },
    warning,
    async startRemote(how) {
      started.push(how)
      return startRemote ? startRemote(how) : quietAgent()
    }
  })
  t.teardown(() => agent.stop())
  const events: AgentEvent[] = []
  let toldMore = () => {}
  const listen = async (): Promise<unknown> => {
    try {
      for await (const event of agent.events) {
        if (event.type !== 'history-read') events.push(event)
        toldMore()
      }
      return undefined
    } catch (error) {
      return error
    }
  }
  const ended = listen()
  const heard = async () => {
    await new Promise(resolve => setImmediate(resolve))
    return events
  }
  const reads = async (file: string, isSo: (content: string) => boolean): Promise<string> => {
    const path = join(home, file)
    while (!existsSync(path) || !isSo(readFileSync(path, 'utf8'))) await pause(5)
    return readFileSync(path, 'utf8')
  }
  /** The arguments of each start at the terminal, once there were as many. */
  const starts = async (count = 1): Promise<string[]> => {
    const args = await reads('args', content => content.split('\n').length > count)
    await reads('keys', () => true)
    return args.trimEnd().split('\n')
  }
  return {
    agent,
    /** Resolves to the error with which its events end. */
    ended,
    record,
    started,
    starts,
    drawing: () => drawing,
    screenStarts: () => drawing.filter(Boolean).length,
    /** Resolves once these keys, and no others, were typed. */
    keys: (typed: string) => reads('keys', content => content === typed),
    async hook(name: string, about: object): Promise<object> {
      const [, settings = ''] = /--settings (\S+)/.exec((await starts()).at(-1) ?? '') ?? []
      const [{ url, headers }] = JSON.parse(readFileSync(settings, 'utf8')).hooks[name][0].hooks
      const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ hook_event_name: name, ...about }) })
      return (await reply.json()) as object
    },
    /** The first event of this type, or a later one by its count. */
    async told<Type extends AgentEvent['type']>(type: Type, count = 1): Promise<Extract<AgentEvent, { type: Type }>> {
      for (;;) {
        const event = events.filter(event => event.type === type)[count - 1]
        if (event) return event as Extract<AgentEvent, { type: Type }>
        await new Promise<void>(resolve => (toldMore = resolve))
      }
    },
    events: heard,
    notices: async () => (await heard()).flatMap(event => (event.type === 'notice' ? event.text : []))
  }
}

/** The last row of a turn. */
function answered(text: string): object {
  return { type: 'assistant', uuid: 'a', message: { content: [{ type: 'text', text }], stop_reason: 'end_turn' } }
}

/** The keys with which a text is typed. */
function typing(text: string): string {
  return `\x13\x1b[200~${text}\x1b[201~\r`
}

function quietAgent(able: Partial<Agent> = {}): Agent & { events: BoundedQueue<AgentEvent> } {
  const events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  const stop = async () => events.close()
  return Object.assign(Object.create(null), { conversation: 'quiet', events, async cancel() {}, stop, ...able })
}
