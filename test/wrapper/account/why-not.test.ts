import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { createSessionFolder, listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { wakingReason } from '../../../lib/wrapper/home/session-notes.ts'
import { startServer } from '../../kit/server.ts'
import { said } from '../kit/claude.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import type { PhoneSession } from '../kit/phone.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

const write = 'SCRIPT: tool write {"path":"a.txt","content":"x"} ;; text done'

async function asked(session: PhoneSession): Promise<string> {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  return Object.keys(session.state.requests ?? {})[0] ?? ''
}

/** A session with an agent that takes words into a turn that waits for them, and into no other. */
async function withSteered(t: Test) {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  runWrapper(t, { home, args: ['run', '--', process.execPath, resolve('test/wrapper/agents/odd-agent.mjs')] })
  return phone.session()
}

t.test("the person's reason for a no goes to the agent next, before waiting messages, if it accepts no input mid-turn", async t => {
  const { session } = await demo(t)
  await session.say(write)
  const id = await asked(session)
  await session.say('SCRIPT: text waits')
  await session.call('permission', { id, approved: false, reason: 'SCRIPT: text ask Ann first' })
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['done', 'ask Ann first', 'waits'])
  t.strictSame(said(session), [write, 'SCRIPT: text waits', 'I said no to “Write a.txt”: SCRIPT: text ask Ann first'])
})

t.test("the person's reason for stopping the turn goes to the agent next, before waiting messages", async t => {
  const { session } = await demo(t)
  await session.say(write)
  const id = await asked(session)
  await session.say('SCRIPT: text waits')
  await session.call('permission', { id, approved: false, decision: 'abort', reason: 'SCRIPT: text ask Ann first' })
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['ask Ann first', 'waits'])
  t.match(said(session).at(-1), /^I stopped you at “Write a\.txt”: /)
})

t.test('a reason waiting when the wrapper is killed is the first input from the next one, once', async t => {
  const { session, wrapper, home } = await demo(t)
  const refused = `SCRIPT: tool write {"path":"a.txt","content":"x"} ;; slow 60000 ${'word '.repeat(300)}`
  await session.say(refused)
  const id = await asked(session)
  await session.say('SCRIPT: text waits')
  await session.call('permission', { id, approved: false, reason: 'SCRIPT: text ask Ann first' })
  const told = 'I said no to “Write a.txt”: SCRIPT: text ask Ann first'
  await session.until(session => said(session).includes(told))
  await wrapper.kill('SIGKILL')
  await runWrapper(t, { home, args: ['flush'] }).ended

  const next = runWrapper(t, { home, args: ['resume', session.id] })
  await session.until(session => texts(session).includes('waits'))
  await next.kill('SIGTERM')
  runWrapper(t, { home, args: ['resume', session.id] })
  await session.say('SCRIPT: text later')
  await session.until(session => texts(session).includes('later'))
  t.strictSame(texts(session).slice(-3), ['ask Ann first', 'waits', 'later'])
  t.strictSame(said(session), [refused, 'SCRIPT: text waits', told, 'SCRIPT: text later'], 'and it is shown once')
})

t.test('a session killed with only a reason waiting is resumed for it by the daemon [W8]', async t => {
  const { session, wrapper, home } = await demo(t)
  await wrapper.says(/live/)
  const refused = `SCRIPT: tool write {"path":"a.txt","content":"x"} ;; slow 60000 ${'word '.repeat(300)}`
  await session.say(refused)
  const id = await asked(session)
  await session.call('permission', { id, approved: false, reason: 'SCRIPT: text ask Ann first' })
  const told = 'I said no to “Write a.txt”: SCRIPT: text ask Ann first'
  await session.until(session => said(session).includes(told))
  await wrapper.kill('SIGKILL')
  runWrapper(t, { home, args: ['daemon', 'run'] })
  await session.until(session => texts(session).includes('ask Ann first'))
  t.strictSame(said(session), [refused, told])
})

t.test('a reason from before a person ended the session does not resume it [W8]', async t => {
  const home = t.testdir()
  const reasons = [{ localId: 'r', text: 'I said no' }]
  const metadata = { path: '/p', host: 'h' }
  const folder = createSessionFolder(home, { tag: 'one', server: 's', key: null, metadata, cursor: 3, turn: null, reasons })
  const wakes = () => listSessions(home).map(wakingReason)
  t.strictSame(wakes(), ['r'])
  folder.note({ endedBy: 'itself' })
  t.strictSame(wakes(), ['r'])
  folder.note({ endedBy: 'person' })
  t.strictSame(wakes(), [undefined])
})

t.test('an agent that gets the reason mid-turn does not get it again', async t => {
  const session = await withSteered(t)
  await session.say('ask and wait')
  await session.call('permission', { id: await asked(session), approved: false, reason: 'ask Ann first' })
  await session.until(session => turnsEnded(session) === 1)
  t.match(texts(session), [/^waiting/, 'heard ask Ann first'])
  await session.say('refuse')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(said(session), ['ask and wait', 'refuse'])
})

t.test('an agent that ends its turn at a no has received the reason by then', async t => {
  const session = await withSteered(t)
  await session.say('ask and end')
  await session.call('permission', { id: await asked(session), approved: false, reason: 'ask Ann first' })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['heard ask Ann first'])
  await session.say('refuse')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(said(session), ['ask and end', 'refuse'])
})

t.test('an agent whose turn ended with the no gets it in the next', async t => {
  const session = await withSteered(t)
  await session.say('run it')
  await session.call('permission', { id: await asked(session), approved: false, reason: 'ask Ann first' })
  await session.until(session => said(session).length === 2)
  t.equal(said(session).at(-1), 'I said no to “Run it”: ask Ann first')
  // It asks the same whatever it is told.
  await session.call('permission', { id: await asked(session), approved: false })
  await session.until(session => turnsEnded(session) === 2)
  t.equal(said(session).length, 2, 'a no without a reason says nothing')
})
