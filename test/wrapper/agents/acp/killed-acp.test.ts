import { join } from 'node:path'
import t, { type Test } from 'tap'
import { pause } from '../../../../lib/async/pause.ts'
import { startServer } from '../../../kit/server.ts'
import { read } from '../../kit/claude.ts'
import { texts, turnsEnded, writtenByDemo } from '../../kit/demo.ts'
import type { PhoneSession } from '../../kit/phone.ts'
import { runOnTerminal } from '../../kit/terminal.ts'
import { linkedComputer } from '../../kit/world.ts'
import { runWrapper } from '../../kit/wrapper.ts'

const how = { timeout: 90_000, skip: process.platform === 'win32' && 'a process cannot be stopped for a while' }

async function computer(t: Test) {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  const sitDown = (...args: string[]) => runOnTerminal(t, { home, directory: home, args })
  const written = ({ metadata }: PhoneSession) => writtenByDemo(join(home, 'demo-conversations'), metadata.agentSessionId ?? '')
  return { home, phone, sitDown, written }
}

/** The wrapper hears nothing any more, and its agent goes on to the end; then the wrapper is killed. */
async function killedInTheMiddle(t: Test) {
  const at = await computer(t)
  const terminal = at.sitDown('demo')
  const session = await at.phone.session()
  await session.say('SCRIPT: tool write {"path":"pear.txt","content":"ripe"}; many 3 same; steady 10 40 line; plan a | b; many 2 same')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: true })
  await session.until(session => texts(session).includes('line 5'))
  process.kill(terminal.pid, 'SIGSTOP')
  while (at.written(session).at(-1) !== 'assistant: same 2') await pause(20)
  t.notOk(texts(session).includes('line 40'))
  terminal.kill('SIGKILL')
  await terminal.ended
  return { ...at, session }
}

t.test('output of an ACP agent after its wrapper was killed is sent by the next run: once, and in order [W1]', how, async t => {
  const { session, sitDown, written } = await killedInTheMiddle(t)
  sitDown('resume', session.id)
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(read(session), written(session))
  const count = (type: string) => session.events().filter(({ t }) => t === type).length
  // The write, and the plan.
  t.strictSame([count('turn-start'), count('tool-call-start'), count('tool-call-end')], [1, 2, 2])

  await session.say('SCRIPT: text then')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(read(session), written(session))
})

t.test('it is sent even if the end of the turn was delivered before the session was continued [W1]', how, async t => {
  const { session, home, sitDown, written } = await killedInTheMiddle(t)
  const flush = runWrapper(t, { home, args: ['flush'] })
  t.equal(await flush.ended, 0, flush.output)
  await session.until(session => turnsEnded(session) === 1)
  sitDown('resume', session.id)
  await session.until(session => texts(session).at(-1) === 'same 2')
  t.strictSame(read(session), written(session))
})

t.test('a completed turn is not sent again', how, async t => {
  const { phone, sitDown, written } = await computer(t)
  const terminal = sitDown('demo')
  const session = await phone.session()
  await session.say('SCRIPT: many 3 line')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('SCRIPT: many 3 line')
  await session.until(session => turnsEnded(session) === 2)
  terminal.kill('SIGKILL')
  await terminal.ended
  sitDown('resume', session.id)
  await session.say('SCRIPT: text again')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(read(session), written(session))
})
