import t from 'tap'
import { pause } from '../../../../lib/async/pause.ts'
import { startServer } from '../../../kit/server.ts'
import { computerWithClaude, read, written } from '../../kit/claude.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'

const how = { timeout: 90_000, skip: process.platform === 'win32' && 'the fake is a script' }

t.test('what Claude recorded for the phone when the wrapper was killed is sent by the next run: once, and in order [W1]', how, async t => {
  const computer = await computerWithClaude(t, await startServer(t))
  const { phone, sitDown } = computer
  const terminal = sitDown(['claude', '--remote'])
  const session = await phone.session()
  await session.say('many 40 line')
  await session.until(session => texts(session).length >= 5)
  // It hears nothing any more, and Claude goes on.
  process.kill(terminal.pid, 'SIGSTOP')
  while (!written(computer).includes('assistant: line 40')) await pause(20)
  t.notOk(texts(session).includes('line 40'))
  terminal.kill('SIGKILL')
  await terminal.ended

  sitDown(['resume', '--remote', session.id])
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(read(session), written(computer))
  t.strictSame(
    session.events().flatMap(event => (event.t === 'turn-end' ? event.status : [])),
    ['completed']
  )
  await session.say('and then')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(read(session), written(computer))
})

t.test('a step and a question sent before the wrapper was killed are not sent again', how, async t => {
  const computer = await computerWithClaude(t, await startServer(t))
  const { phone, sitDown } = computer
  const terminal = sitDown(['claude', '--remote'])
  const session = await phone.session()
  await session.say('write a.txt', 'default')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  terminal.kill('SIGKILL')
  await terminal.ended
  sitDown(['resume', '--remote', session.id])
  await session.until(session => turnsEnded(session) === 1)
  const of = (type: string) => session.events().filter(({ t }) => t === type).length
  t.strictSame([of('tool-call-start'), of('tool-call-end'), of('turn-start')], [1, 1, 1])
  t.strictSame(texts(session), ['I will write a.txt.'])
})

t.test('what Claude recorded but had not sent when killed is sent whole, in its turn [W1]', how, async t => {
  const computer = await computerWithClaude(t, await startServer(t))
  const terminal = computer.sitDown(['claude', '--remote'])
  const session = await computer.phone.session()
  await session.say('die now')
  await session.until(session => turnsEnded(session) === 1)
  await terminal.ended
  t.strictSame(texts(session), ['heard', 'kept whole', 'kept too'])
  t.strictSame(read(session), written(computer))
})

t.test('a resumed session uses the chosen model and reasoning level, although its agent starts fresh', how, async t => {
  const { phone, sitDown } = await computerWithClaude(t, await startServer(t))
  const terminal = sitDown(['claude', '--remote'])
  const session = await phone.session()
  await session.say('hello', { model: 'deep', effort: 'high' })
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.metadata, { currentModelCode: 'deep', currentThoughtLevelCode: 'high' })
  const { hostPid } = session.metadata
  terminal.kill('SIGTERM')
  await terminal.ended
  sitDown(['resume', '--remote', session.id])
  await session.until(({ metadata }) => metadata.hostPid !== hostPid && metadata.lifecycleState === 'running')
  await session.say('and again')
  await session.until(session => turnsEnded(session) === 2)
  t.match(session.metadata, { currentModelCode: 'deep', currentThoughtLevelCode: 'high' })
})
