import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { AgentDied, type AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { startSharedCodex } from '../../../../lib/wrapper/agents/codex/shared-codex.ts'
import { listenTo } from '../contract.ts'

const how = { skip: process.platform === 'win32' && 'the fake is a script', timeout: 60_000 }

t.test('a rejected prompt ends its turn with the reason, and so does one whose answer is none; the next one can begin', how, async t => {
  const agent = await begin(t)
  const talk = listenTo(agent)
  const failed = (error: string) => ({ type: 'turn-ended', reason: 'failed', error })
  t.equal(await agent.prompt('reject No such model.'), true)
  t.strictSame(await talk.until('turn-ended'), failed('No such model.'))
  t.equal(await agent.prompt('odd'), true)
  t.strictSame(await talk.until('turn-ended'), failed('Codex accepted this message and sent an answer that Afield does not understand.'))
  t.equal(await agent.steer?.('and this'), false, 'no turn runs')
  t.equal(await agent.prompt('hello'), true)
  t.match(await talk.until('turn-ended'), { reason: 'done' })
})

t.test('a turn that is stopped ends as cancelled, and a stopped agent takes nothing', how, async t => {
  const agent = await begin(t)
  const talk = listenTo(agent)
  await agent.prompt('slow 60000 one two')
  await talk.until('text-grew')
  await agent.cancel()
  t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
  await agent.prompt('slow 60000 one two')
  await talk.until('text-grew')
  const sockets = join(t.testdirName, '.afield', 'sockets')
  t.equal(readdirSync(sockets).length, 1)
  await agent.stop()
  t.strictSame(readdirSync(sockets), [], 'nothing of it runs any more')
  t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
  t.equal(await agent.prompt('hello'), false)
  t.equal(await agent.steer?.('hello'), false)
})

t.test('an agent whose server dies ends its turn and its events, with the cause', how, async t => {
  const agent = await begin(t)
  const events = read(agent.events)
  t.equal(await agent.prompt('die 3'), false, 'a next process gives it again')
  t.match((await events).error, { how: 'exit code 3' })
  t.ok((await events).error instanceof AgentDied)
  t.equal(await agent.prompt('hello'), false)

  const working = await begin(t)
  const told = read(working.events)
  await working.prompt('slow 60000 one two')
  await working.prompt('die 3')
  const ends = (await told).events.filter(({ type }) => type === 'turn-ended')
  t.strictSame(ends, [{ type: 'turn-ended', reason: 'failed', error: 'The agent exited unexpectedly (exit code 3).' }])
})

t.test('how much of its plan is used is told at the beginning', how, async t => {
  const { windows } = await listenTo(await begin(t)).until('usage-windows')
  t.match(windows, [
    { minutes: 300, usedPercent: 42 },
    { minutes: 10_080, usedPercent: 7 }
  ])
})

/** All of them, and what they ended with. */
async function read(from: AsyncIterable<AgentEvent>) {
  const events: AgentEvent[] = []
  try {
    for await (const event of from) events.push(event)
    return { events, error: undefined }
  } catch (error) {
    return { events, error }
  }
}

async function begin(t: Test) {
  const directory = t.testdir()
  const agent = await startSharedCodex({
    home: join(directory, '.afield'),
    codex: resolve('test/wrapper/agents/codex/fake-codex.mjs'),
    version: '0.169.0',
    how: { directory, env: { PATH: process.env['PATH'] ?? '', HOME: directory } }
  })
  t.teardown(() => agent.stop())
  return agent
}
