import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CannotStart } from '../../../../lib/exit.ts'
import { startAcp } from '../../../../lib/wrapper/agents/acp/acp.ts'
import { AgentDied, type StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { programFile } from '../../../kit/program.ts'
import { listenTo } from '../contract.ts'

async function odd(t: Test, args: string[] = [], how: Partial<StartAgent> = {}) {
  const directory = how.directory ?? t.testdir()
  const program = { command: process.execPath, args: [new URL('../odd-agent.mjs', import.meta.url).pathname, ...args], title: 'Odd' }
  const agent = await startAcp(program, { directory, env: {}, ...how })
  t.teardown(() => agent.stop())
  return { agent, talk: listenTo(agent) }
}

t.test('an agent that starts in a mode where a model decides is switched to one where a person is asked', async t => {
  const { agent, talk } = await odd(t)
  t.match((await talk.until('modes', ({ modes }) => modes.current === 'default')).modes, { current: 'default' })
  t.equal(await agent.setMode('bypassPermissions'), true, 'and a name that apps use finds its own')
  await talk.until('modes', ({ modes }) => modes.current === 'yolo')
})

t.test('a request for a mode that an agent lacks is reported with what it does instead, in familiar words', async t => {
  const noticesOf = async (mode: string, args: string[] = []) => {
    const { talk } = await odd(t, args, { mode })
    await talk.until('options')
    return talk.heard.flatMap(event => (event.type === 'notice' ? [event.text] : []))
  }
  t.strictSame(await noticesOf('plan'), ['Odd has no mode “Plan only”; it asks first.'])
  t.strictSame(await noticesOf('acceptEdits'), ['Odd has no mode “Edit freely”; it asks first.'])
  t.strictSame(await noticesOf('bypassPermissions'), [], 'it has that under another name')
  t.strictSame(await noticesOf('plan', ['--no-modes']), ['Odd has no mode “Plan only”; it offers no modes.'])
  t.strictSame(await noticesOf('default', ['--no-modes']), [])
})

t.test('a permission request that precedes its step brings the step with it', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('run')
  t.match(await talk.until('step-started'), { step: { call: 't2', title: 'Run it', name: 'Bash', input: { command: 'make' } } })
  const { asked } = await talk.until('permission-asked')
  t.strictSame(
    asked.choices.map(({ id }) => id),
    ['y', 'n'],
    'neither a choice of a kind we do not know is offered, nor one that nobody could come back to'
  )
  agent.answer(asked.ask, 'y')
  t.match(await talk.until('step-ended'), { status: 'completed' })
  t.match(await talk.until('turn-ended'), { reason: 'done' })
})

t.test('a no that ends the turn ends the step with it, as denied', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('run')
  const { asked } = await talk.until('permission-asked')
  agent.answer(asked.ask, 'n')
  t.match(await talk.until('step-ended'), { status: 'denied' })
  t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
})

t.test('chunks without a message id form blocks; unknown ones are skipped; a text result is shown', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('talk')
  await talk.until('turn-ended')
  const told = talk.heard.flatMap(event => {
    if (event.type === 'text') return `${event.thinking ? 'thinks' : 'says'} ${event.text}`
    return event.type === 'step-ended' ? `${event.step.name} ${JSON.stringify(event.step.content)}` : []
  })
  t.strictSame(told, ['thinks well', 'says one two', 'Grep [{"type":"text","text":"3 hits"}]', 'says three'])
  const inputs = talk.heard.flatMap(event => (event.type === 'step-ended' ? [event.step.input] : []))
  t.strictSame(inputs, [{ pattern: 'x' }], 'input that is a list has no names, and is left out')
})

t.test("errors are reported in the agent's words", async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('fail')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: 'the model is overloaded' })
  await agent.prompt('refuse')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: /refused/ })
})

t.test('history that an agent repeats when loading a conversation is not sent again', async t => {
  const { agent, talk } = await odd(t, [], { resume: 'odd' })
  await agent.prompt('talk')
  await talk.until('turn-ended')
  t.notOk(talk.heard.some(event => event.type === 'text' && event.text.includes('long ago')))
})

t.test('history not sent before arrives as turns, with the same names each time', async t => {
  const past = async () => (await odd(t, [], { resume: 'odd', isUnsent: true })).agent.unsent?.events ?? []
  const [one, other] = [await past(), await past()]
  const nameless = one.map(event => ('block' in event ? { ...event, block: '' } : event))
  t.match(nameless, [
    { type: 'prompted', text: 'do it', isOurs: false, row: 'odd 1' },
    { type: 'text', text: 'what was said long ago', row: 'odd 2' },
    { type: 'step-started', step: { call: 'old' } },
    { type: 'step-ended', status: 'completed' },
    { type: 'turn-ended', reason: 'done' },
    { type: 'prompted', text: 'and that' },
    { type: 'turn-ended', reason: 'done' }
  ])
  t.equal(one.length, 7)
  t.strictSame(
    nameless,
    other.map(event => ('block' in event ? { ...event, block: '' } : event))
  )
})

t.test('an agent that can do both is not asked to repeat a conversation, except for one not sent before', async t => {
  const goOn = (how: Partial<StartAgent>) => odd(t, ['--resumes'], { resume: 'odd', ...how })
  const known = await goOn({})
  t.match(await known.talk.until('options'), { efforts: { current: 'resumed' } })
  const unsent = await goOn({ isUnsent: true })
  t.match(await unsent.talk.until('options'), { efforts: { current: 'low' } })
  t.match(unsent.agent.unsent?.events[0], { type: 'prompted', text: 'do it' })
})

t.test('models in the older format and reasoning levels without a category are found, and a broken option affects only itself', async t => {
  const { agent, talk } = await odd(t)
  const { models, efforts } = await talk.until('options')
  t.match(models, { current: 'm1', available: [{ id: 'm1' }, { id: 'm2' }] })
  t.match(efforts, { current: 'low', available: [{ id: 'low' }, { id: 'high' }] })
  t.equal(await agent.setModel?.('m2'), true)
  t.equal(await agent.setEffort?.('high'), true)
  t.match(await talk.until('options', ({ efforts }) => efforts?.current === 'high'), { models: { current: 'm2' } })
})

t.test('all other options are listed and can be chosen; those of an unknown kind are left out', async t => {
  const { agent, talk } = await odd(t, ['--settings'])
  const { settings } = await talk.until('settings')
  t.match(settings, [
    {
      id: 'fast',
      name: 'Fast',
      description: 'Costs more.',
      isSwitch: true,
      current: 'false',
      available: [{ id: 'true' }, { id: 'false' }]
    },
    { id: 'tone', name: 'Tone', isSwitch: false, current: 'dry', available: [{ id: 'dry' }, { id: 'warm' }] }
  ])
  t.equal(settings.length, 2)
  t.equal(await agent.setSetting?.('fast', 'true'), true)
  t.equal(await agent.setSetting?.('tone', 'warm'), true)
  for (const [id, value] of [
    ['tone', 'loud'],
    ['dial', 'dry'],
    ['mode', 'yolo']
  ] as const)
    t.equal(await agent.setSetting?.(id, value), false, id)
  t.match((await talk.until('settings', ({ settings }) => settings[1]?.current === 'warm')).settings, [
    { current: 'true' },
    { current: 'warm' }
  ])
})

t.test('a setting is told also when the agent answers without its options', async t => {
  const { agent, talk } = await odd(t, ['--settings', '--says-little'])
  t.equal(await agent.setSetting?.('tone', 'warm'), true)
  t.match((await talk.until('settings', ({ settings }) => settings[1]?.current === 'warm')).settings, [{ current: 'false' }, {}])
})

t.test('a form with fields of every kind is asked as questions, and answered with their types', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('form')
  const { asked } = await talk.until('question-asked')
  t.match(asked, {
    kind: 'form',
    title: 'Tell me',
    questions: [
      {
        id: 'sure',
        question: 'Sure?',
        options: [
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' }
        ],
        allowsOther: false
      },
      { id: 'some', multiSelect: true, options: [{ value: 'a' }, { value: 'b' }] },
      { id: 'size', options: [], allowsOther: true }
    ]
  })
  const sized = (other: string) => ({ sure: { values: ['false'] }, some: { values: ['b'] }, size: { values: [], other } })
  t.throws(() => agent.answerQuestion?.(asked.ask, sized('0.1')), /at least 0.5/)
  t.equal(agent.answerQuestion?.(asked.ask, sized('1.5')), true)
  const { text } = await talk.until('text')
  t.strictSame(JSON.parse(text), { action: 'accept', content: { sure: false, some: ['b'], size: 1.5 } })
})

t.test('a request that no person can answer here is declined at once, and reported', async t => {
  const { agent, talk } = await odd(t)
  for (const prompt of ['strange form', 'file link']) {
    await agent.prompt(prompt)
    await talk.until('notice', ({ text }) => /cannot be shown here/.test(text))
    t.match((await talk.until('text')).text, /"decline"/)
  }
  t.notOk(talk.heard.some(({ type }) => type === 'question-asked'))
})

t.test('a page completed elsewhere is no longer a question', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('link')
  const { asked } = await talk.until('question-asked')
  t.match(await talk.until('question-closed'), { ask: asked.ask })
  t.match((await talk.until('text')).text, /"accept"/)
})

t.test('subagent output is attributed to them, in both formats', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('helpers')
  await talk.until('turn-ended')
  const told = talk.heard.flatMap(event => {
    if (event.type === 'subagent-started') return `${event.subagent} starts: ${event.title}`
    if (event.type === 'subagent-stopped') return `${event.subagent} stops`
    if (event.type === 'text') return `${event.subagent ?? 'itself'} says ${event.text.trim()}`
    if (event.type === 'step-ended') return `${event.subagent ?? 'itself'} did ${event.step.title}`
    return event.type === 'plan' ? 'a plan' : []
  })
  t.strictSame(told, [
    'child starts: Looker',
    'child says I look.',
    'child did Look',
    'child stops',
    'itself says Meanwhile I wait.',
    'task starts: Ask a helper',
    'task did Search',
    'task stops',
    'itself did Ask a helper'
  ])
})

t.test('newer updates are shown, and those without meaning for a person are skipped', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('news')
  await talk.until('turn-ended')
  const news = talk.heard.filter(({ type }) => ['plan', 'notice', 'title', 'usage', 'usage-windows'].includes(type))
  t.match(news, [
    { type: 'plan', entries: [{ content: 'one' }] },
    { type: 'plan', entries: [] },
    { type: 'notice', text: /compacted/ },
    { type: 'notice', text: 'Careful' },
    { type: 'title', title: 'A name' },
    { type: 'usage', used: 5, size: 10, cost: { amount: 0.25, currency: 'USD' } },
    {
      type: 'usage-windows',
      windows: [
        { minutes: 300, usedPercent: 24 },
        { minutes: 10080, usedPercent: 13 }
      ]
    }
  ])
})

t.test('pictures are typed by their bytes, and unsupported content is a line that names it', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('show')
  await talk.until('turn-ended')
  const told = talk.heard.flatMap(event => {
    if (event.type === 'picture') return `${event.mimeType} ${event.name}`
    if (event.type === 'step-ended') return `did ${JSON.stringify(event.step.content)}`
    return event.type === 'text' ? event.text : []
  })
  t.strictSame(told, [
    'Look ',
    'image/png sine.png',
    'and this',
    '[image, image/svg+xml, 1 kB]',
    '[image, image/png, 9217 kB]',
    '[image]',
    '[audio, audio/wav, 1 kB]',
    '[a.md](file:///a.md)',
    'what stands in it',
    'image/gif c.gif',
    '[file:///d.bin, application/octet-stream, 1 kB]',
    'did [{"type":"text","text":"[image, image/png, 1 kB]"}]',
    'image/png picture.png'
  ])
})

t.test('input is accepted into the running turn, and stays in our queue when none runs', async t => {
  const { agent, talk } = await odd(t)
  t.equal(await agent.steer?.('nobody listens'), false)
  await agent.prompt('wait')
  await talk.until('text-grew')
  t.equal(await agent.steer?.('this'), true)
  await talk.until('text', ({ text }) => text === 'heard this')
  t.match(await talk.until('turn-ended'), { reason: 'done' })
})

t.test('the text an agent was writing when stopped is reported as cut off', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('deaf')
  await talk.until('text-grew')
  await agent.cancel()
  t.match(await talk.until('text'), { isStopped: true })
  t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
})

t.test('a second conversation starts with the same history', async t => {
  const { agent } = await odd(t)
  t.equal(await agent.fork?.(), 'odd-again')
})

t.test('an agent that dies ends its turn and its events, with the cause and its last lines', async t => {
  const program = { command: process.execPath, args: [programFile(), 'demo-agent', t.testdir()], title: 'Demo' }
  const agent = await startAcp(program, { directory: process.cwd(), env: {} })
  const talk = listenTo(agent)
  await agent.prompt('SCRIPT: text before; die')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: /exited unexpectedly \(exit code 3\)/ })
  const error = await talk.end.catch((error: unknown) => error)
  t.ok(error instanceof AgentDied)
  t.match(error, { how: 'exit code 3', lastLines: /asked the agent to die/ })
})

t.test('a start that hangs ends when it is cancelled', async t => {
  const cancelled = new AbortController()
  const starting = odd(t, ['--hangs'], { signal: cancelled.signal })
  cancelled.abort(new Error('nobody waits for it'))
  await t.rejects(starting, CannotStart)
})

t.test('an agent that is stopped ends its turn, its requests and its events, and hears nothing afterwards', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('run')
  const { asked } = await talk.until('permission-asked')
  await agent.stop()
  t.match(await talk.until('permission-closed'), { ask: asked.ask })
  t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
  await talk.end
  const heard = talk.heard.length
  t.equal(agent.answer(asked.ask, 'y'), false)
  t.equal(await agent.prompt('go on'), false)
  await agent.cancel()
  await agent.stop()
  t.equal(talk.heard.length, heard)
})

t.test('what reports beside an agent begins once it is open, and ends with it', async t => {
  const calls: string[] = []
  const agent = await startAcp(
    {
      command: process.execPath,
      args: [new URL('../odd-agent.mjs', import.meta.url).pathname],
      title: 'Odd',
      beside(agent, tell) {
        calls.push(`begins with ${agent.conversation === '' ? 'none' : 'a conversation'}`)
        tell({ type: 'notice', text: 'from beside' })
        return () => void calls.push('ends')
      }
    },
    { directory: t.testdir(), env: {} }
  )
  const talk = listenTo(agent)
  await talk.until('notice', ({ text }) => text === 'from beside')
  t.strictSame(calls, ['begins with a conversation'])
  await agent.stop()
  t.strictSame(calls, ['begins with a conversation', 'ends'])
})

t.test('a program that could not be opened is ended', { skip: process.platform === 'win32' && 'it is a script' }, async t => {
  const directory = t.testdir()
  const program = { command: 'sh', args: ['-c', 'echo $$ > pid; exec cat'], title: 'It' }
  await t.rejects(startAcp(program, { directory, env: { PATH: process.env['PATH'] ?? '' } }), CannotStart)
  const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'))
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

t.test('a failed start of an agent is one sentence', async t => {
  const directory = t.testdir()
  const start = (command: string, args: string[], at = directory) =>
    startAcp({ command, args, title: 'It' }, { directory: at, env: { PATH: process.env['PATH'] ?? '' } })
  const cases: [string, () => Promise<unknown>, RegExp][] = [
    ['no such command', () => start('no-such-command', []), /The command no-such-command was not found/],
    ['not executable', () => start(new URL('../odd-agent.mjs', import.meta.url).pathname, []), /cannot be run/],
    ['no such folder', () => start('true', [], `${directory}/nowhere`), /The folder .* does not exist/],
    [
      'ends at once',
      () => start('sh', ['-c', 'echo "no key" >&2; exit 4']),
      /exited before it was ready \(exit code 4\)\.\nIts last output:\n {2}no key/
    ],
    ['repeats what it reads', () => start('cat', []), /^It does not speak ACP/],
    ['asks to sign in', () => odd(t, ['--sign-in-first']), /sign in first/],
    ['knows no such conversation', () => odd(t, [], { resume: 'unknown' }), /^Odd has no such conversation on this computer\./],
    ['another protocol', () => odd(t, ['--version-7']), /speaks version 7 of ACP/]
  ]
  for (const [what, start, says] of cases) {
    const error = await start().catch((error: unknown) => error)
    t.ok(error instanceof CannotStart, what)
    t.match(error, { message: says }, what)
  }
})
