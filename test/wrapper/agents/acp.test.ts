import t, { type Test } from 'tap'
import { CannotStart } from '../../../lib/exit.ts'
import { startAcp } from '../../../lib/wrapper/agents/acp.ts'
import { AgentDied, type StartAgent } from '../../../lib/wrapper/agents/agent.ts'
import { listenTo } from './contract.ts'

async function odd(t: Test, args: string[] = [], how: Partial<StartAgent> = {}) {
  const directory = how.directory ?? t.testdir()
  const program = { command: process.execPath, args: [new URL('odd-agent.mjs', import.meta.url).pathname, ...args], title: 'Odd' }
  const agent = await startAcp(program, { directory, env: {}, ...how })
  t.teardown(() => agent.stop())
  return { agent, talk: listenTo(agent) }
}

t.test('an agent that begins where a model decides is put where a person is asked', async t => {
  const { agent, talk } = await odd(t)
  t.match((await talk.until('modes', ({ modes }) => modes.current === 'default')).modes, { current: 'default' })
  t.equal(await agent.setMode('bypassPermissions'), true, 'and a name that apps use finds its own')
  await talk.until('modes', ({ modes }) => modes.current === 'yolo')
})

t.test('a permission that comes before its step brings the step with it', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('run')
  t.match(await talk.until('step-started'), { step: { call: 't2', title: 'Run it', name: 'Bash', input: { command: 'make' } } })
  const { asked } = await talk.until('permission-asked')
  t.strictSame(
    asked.choices.map(({ id }) => id),
    ['y', 'n'],
    'a choice of a kind we do not know is not offered'
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

t.test('chunks without a message id make blocks; what nobody knows is passed over; a text result is shown', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('talk')
  await talk.until('turn-ended')
  const told = talk.heard.flatMap(event => {
    if (event.type === 'text') return `${event.thinking ? 'thinks' : 'says'} ${event.text}`
    return event.type === 'step-ended' ? `${event.step.name} ${JSON.stringify(event.step.content)}` : []
  })
  t.strictSame(told, ['thinks well', 'says one two', 'Grep [{"type":"text","text":"3 hits"}]', 'says three'])
})

t.test('what went wrong is told in the words of the agent', async t => {
  const { agent, talk } = await odd(t)
  await agent.prompt('fail')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: 'the model is overloaded' })
  await agent.prompt('refuse')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: /refused/ })
})

t.test('history that an agent repeats when it loads a conversation is not told', async t => {
  const { agent, talk } = await odd(t, [], { resume: 'odd' })
  await agent.prompt('talk')
  await talk.until('turn-ended')
  t.notOk(talk.heard.some(event => event.type === 'text' && event.text.includes('long ago')))
})

t.test('an agent that dies ends its turn and its events with how and its last lines', async t => {
  const program = { command: process.execPath, args: ['bin/afield.ts', 'demo-agent', t.testdir()], title: 'Demo' }
  const agent = await startAcp(program, { directory: process.cwd(), env: {} })
  const talk = listenTo(agent)
  await agent.prompt('SCRIPT: text before; die')
  t.match(await talk.until('turn-ended'), { reason: 'failed', error: /ended by itself \(exit code 3\)/ })
  const error = await talk.end.catch((error: unknown) => error)
  t.ok(error instanceof AgentDied)
  t.match(error, { how: 'exit code 3', lastLines: /asked the agent to die/ })
})

t.test('what keeps an agent from starting is one sentence', async t => {
  const directory = t.testdir()
  const start = (command: string, args: string[], at = directory) =>
    startAcp({ command, args, title: 'It' }, { directory: at, env: { PATH: process.env['PATH'] ?? '' } })
  const cases: [string, () => Promise<unknown>, RegExp][] = [
    ['no such command', () => start('no-such-command', []), /There is no command no-such-command/],
    ['not executable', () => start(new URL('odd-agent.mjs', import.meta.url).pathname, []), /may not be run/],
    ['no such folder', () => start('true', [], `${directory}/nowhere`), /There is no folder/],
    [
      'ends at once',
      () => start('sh', ['-c', 'echo "no key" >&2; exit 4']),
      /ended before it was ready \(exit code 4\)\.\nIts last lines:\n {2}no key/
    ],
    ['repeats what it reads', () => start('cat', []), /^It does not speak ACP/],
    ['asks to sign in', () => odd(t, ['--sign-in-first']), /sign in first/],
    ['another protocol', () => odd(t, ['--version-7']), /speaks version 7 of ACP/]
  ]
  for (const [what, start, says] of cases) {
    const error = await start().catch((error: unknown) => error)
    t.ok(error instanceof CannotStart, what)
    t.match(error, { message: says }, what)
  }
})
