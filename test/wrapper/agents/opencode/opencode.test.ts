import t, { type Test } from 'tap'
import { CannotStart } from '../../../../lib/exit.ts'
import { AgentDied, type AgentEvent, type StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { opencodeKind } from '../../../../lib/wrapper/agents/opencode/opencode.ts'
import { missingRules } from '../../../../lib/wrapper/agents/opencode/permissions.ts'
import { fakeOpencode } from '../../kit/opencode.ts'
import { running } from '../../kit/running.ts'
import { listenTo, testAgent } from '../contract.ts'

const isWindows = process.platform === 'win32'

function start(how: StartAgent, told: string[] = []) {
  const kind = opencodeKind({ env: { OPENCODE_BIN_PATH: fakeOpencode }, tell: line => told.push(line) })
  return kind.start(how)
}

t.test('what every agent does', { skip: isWindows && 'the fake is a script' }, async t => {
  testAgent(t, {
    start,
    asking: 'build',
    write: (file, content, end) => `write ${file} ${JSON.stringify(content)} end ${end}`,
    slow: (ms, words) => `slow ${ms} ${words.trim()}`,
    has: {
      choices: { model: 'fake/m2', effort: 'high' },
      form: {
        prompt: 'ask',
        id: '0',
        other: '1',
        said: (value, text) => new RegExp(`${value}; ${text}`),
        notSaid: /Unanswered; Unanswered/
      },
      link: false,
      image: { prompt: 'look', said: /image\/png of \d+/ },
      steering: true,
      whyNot: reason => new RegExp(`so not: ${reason}`)
    }
  })
})

async function begin(t: Test, how: Partial<StartAgent> = {}) {
  const directory = how.directory ?? t.testdir()
  const told: string[] = []
  const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '', HOME: directory }, ...how }, told)
  t.teardown(() => agent.stop())
  return { agent, directory, told, talk: listenTo(agent) }
}

const how = { skip: isWindows && 'the fake is a script' }

t.test('a version newer than the tested one is reported to the phone', how, async t => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: t.testdir(), FAKE_VERSION: '1.20.1' }
  const { talk } = await begin(t, { env })
  t.match(await talk.until('notice'), { text: /^opencode 1\.20\.1 is newer than tested \(1\.18\.33\)/ })
})

t.test('plan, title, tokens and cost, and a subagent with its output', how, async t => {
  const { agent, talk } = await begin(t)
  await agent.prompt('todo')
  t.match(await talk.until('plan'), {
    entries: [
      { content: 'first', status: 'in_progress' },
      { content: 'second', status: 'completed' }
    ]
  })
  t.match(await talk.until('usage'), { used: 120, size: 1000 })
  t.match(await talk.until('title'), { title: 'A title' })
  await talk.until('turn-ended')
  await agent.prompt('help')
  const { subagent } = await talk.until('subagent-started')
  t.match(await talk.until('text'), { text: 'looked around', subagent })
  t.match(await talk.until('subagent-stopped'), { subagent })
  t.match(await talk.until('text'), { text: 'helped', subagent: undefined })
})

t.test('text before a step is sent before it, though opencode reports the step first', how, async t => {
  const { agent, talk, directory } = await begin(t)
  await agent.prompt(`write ${directory}/one.txt "x" end done`)
  const { asked } = await talk.until('permission-asked')
  agent.answer(asked.ask, 'once')
  await talk.until('turn-ended')
  const order = talk.heard.flatMap(event => {
    if (event.type === 'text') return event.text
    return event.type === 'step-started' || event.type === 'permission-asked' || event.type === 'step-ended' ? event.type : []
  })
  t.strictSame(order, ['a file then', 'I will write it.', 'step-started', 'permission-asked', 'step-ended', 'done'])
})

t.test("errors are reported in the model's words", how, async t => {
  const { agent, talk } = await begin(t)
  await agent.prompt('fail')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: 'the model is overloaded' })
})

t.test('text being written when the model failed is marked, also when read later', how, async t => {
  const { agent, talk, directory } = await begin(t)
  await agent.prompt('one')
  await talk.until('turn-ended')
  const sentUpTo = talk.heard.flatMap(event => (event.type === 'history-read' ? event.upTo : [])).at(-1)
  await agent.prompt('break off')
  t.match(await talk.until('turn-ended'), { reason: 'failed' })
  const marked = (events: readonly AgentEvent[]) =>
    events.flatMap(event => (event.type === 'text' ? [[event.text, event.isStopped === true]] : []))
  const texts = [
    ['whole', false],
    ['this is half a', true]
  ]
  t.strictSame(marked(talk.heard).slice(-2), texts)
  await agent.stop()
  const later = await begin(t, { directory, resume: agent.conversation, sentUpTo })
  t.strictSame(marked(later.agent.unsent?.events ?? []), texts)
})

t.test('an error and the next attempt are reported', how, async t => {
  const { agent, talk } = await begin(t)
  await agent.prompt('refuse')
  const retrying = await talk.until('retrying')
  t.match(retrying, { attempt: 2, why: 'overloaded' })
  t.ok(retrying.inMs > 0 && retrying.inMs <= 4000)
  t.match(await talk.until('text'), { text: 'after all', isStopped: undefined })
})

t.test('output recorded while nobody listened is sent by the next process, with the same names, and the end of its turn', how, async t => {
  const directory = t.testdir()
  const first = await begin(t, { directory })
  await first.agent.prompt('one')
  await first.talk.until('turn-ended')
  const sentUpTo = first.talk.heard.flatMap(event => (event.type === 'history-read' ? event.upTo : [])).at(-1)
  await first.agent.prompt('two')
  await first.talk.until('turn-ended')
  await first.agent.stop()
  const { agent } = await begin(t, { directory, resume: first.agent.conversation, sentUpTo })
  const rows = first.talk.heard.flatMap(event => (event.type === 'text' || event.type === 'prompted' ? event.row : []))
  t.match(agent.unsent?.events, [
    // How far it was told is noted before the end of the turn is.
    { type: 'turn-ended', reason: 'done' },
    { type: 'prompted', text: 'two', isOurs: true, row: rows[2] },
    { type: 'text', text: 'you said: two', row: rows[3] },
    { type: 'turn-ended', reason: 'done' }
  ])
  t.equal(agent.unsent?.events.length, 4)
})

t.test('output while disconnected is sent once, in order, and the turn ends', how, async t => {
  const earlier = await begin(t)
  await earlier.agent.prompt('long ago')
  await earlier.talk.until('turn-ended')
  await earlier.agent.stop()
  const { agent, talk } = await begin(t, { directory: earlier.directory, resume: earlier.agent.conversation })
  // Over before the line is taken up again, and long after.
  for (const lines of [2, 60]) {
    const heard = talk.heard.length
    await agent.prompt(`cut many ${lines} line`)
    t.match(await talk.until('turn-ended'), { reason: 'done' })
    const told = talk.heard.slice(heard).flatMap(event => (event.type === 'text' || event.type === 'prompted' ? event.text : []))
    t.strictSame(told, [`cut many ${lines} line`, ...Array.from({ length: lines }, (_, index) => `line ${index + 1}`)])
  }
})

t.test('a request made while disconnected is asked after reconnecting, and can be answered', how, async t => {
  const { agent, talk, directory } = await begin(t)
  await agent.prompt(`cut: write ${directory}/one.txt "x" end done`)
  const { asked } = await talk.until('permission-asked')
  t.match(asked.step, { name: 'Write', input: { filePath: `${directory}/one.txt` } })
  t.equal(agent.answer(asked.ask, 'once'), true)
  await talk.until('turn-ended')
  await agent.prompt('cut: ask')
  const { asked: form } = await talk.until('question-asked')
  t.equal(agent.answerQuestion?.(form.ask, { 0: { values: ['blue'] }, 1: { values: [], other: '3' } }), true)
  await talk.until('turn-ended')
  const told = talk.heard.flatMap(event => {
    if (event.type === 'text') return event.text
    return event.type === 'permission-asked' || event.type === 'question-asked' || event.type === 'step-started' ? event.type : []
  })
  t.strictSame(told, [
    'a file then',
    'I will write it.',
    'step-started',
    'permission-asked',
    'done',
    'step-started',
    'question-asked',
    'blue; 3'
  ])
})

t.test('a request answered elsewhere while disconnected is no longer open', how, async t => {
  const { agent, talk, directory } = await begin(t)
  await agent.prompt(`away: write ${directory}/one.txt "x" end done`)
  const { asked } = await talk.until('permission-asked')
  t.match(await talk.until('permission-closed'), { ask: asked.ask, approved: true })
  t.match(await talk.until('turn-ended'), { reason: 'done' })
  await agent.prompt('away: ask')
  const { asked: form } = await talk.until('question-asked')
  t.match(await talk.until('question-closed'), { ask: form.ask })
  t.match(await talk.until('turn-ended'), { reason: 'done' })
})

t.test('a killed server ends its turn and its events', how, async t => {
  const { agent, talk, directory } = await begin(t)
  await agent.prompt('write nowhere "x" end never')
  const { asked } = await talk.until('permission-asked')
  for (const { pid } of running(fakeOpencode, directory)) process.kill(pid, 'SIGKILL')
  t.match(await talk.until('permission-closed'), { ask: asked.ask })
  t.match(await talk.until('step-ended'), { status: 'cancelled' })
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: /exited unexpectedly/ })
  t.ok((await talk.end.catch((error: unknown) => error)) instanceof AgentDied)
})

t.test('one that cannot be shared is reported as such, and tried over ACP', how, async t => {
  const cases: [string, RegExp][] = [
    ['old', /cannot be shared between terminal and phone.*exited before it was ready/],
    ['open', /cannot be shared between terminal and phone.*requires no password/],
    ['odd', /cannot be shared between terminal and phone.*sent an answer that Afield does not understand/]
  ]
  for (const [which, says] of cases) {
    const told: string[] = []
    const directory = t.testdir()
    const env = { PATH: process.env['PATH'] ?? '', HOME: directory, FAKE_OPENCODE: which }
    // The fake speaks no ACP, which is the next thing that is said.
    await t.rejects(start({ directory, env }, told), CannotStart)
    t.match(told[0], says)
    t.same(running(fakeOpencode, directory), [], 'and its server has ended')
  }
})

t.test('it asks first, except where its person has decided', t => {
  const acting = { edit: 'ask', bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' }
  const { edit: _, ...running } = acting
  t.strictSame(missingRules({}), { build: acting, general: acting, plan: running, explore: running })
  t.strictSame(missingRules({ permission: 'allow' }), {})
  t.strictSame(missingRules({ permission: { '*': 'deny' } }), {})
  const { bash: __, ...others } = acting
  t.strictSame(missingRules({ permission: { bash: { 'git *': 'allow' } } })['build'], others)
  t.strictSame(missingRules({ agent: { build: { permission: { bash: 'deny' } } } })['build'], others)
  t.strictSame(missingRules({ agent: { mine: {} }, mcp: { 'my server': {} } })['mine'], { ...acting, 'my_server_*': 'ask' })
  t.end()
})
