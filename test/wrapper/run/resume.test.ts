import t from 'tap'
import { listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { startServer } from '../../kit/server.ts'
import { daemonOf } from '../kit/daemon.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import { runOnTerminal } from '../kit/terminal.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('an ended session resumes where it was, and reads messages written to it meanwhile', async t => {
  const { session, wrapper, home } = await demo(t)
  await session.say('SCRIPT: text first')
  await session.until(session => turnsEnded(session) === 1)
  await wrapper.kill('SIGTERM')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  await session.say('SCRIPT: text second')

  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(session), ['first', 'second'], 'nothing twice, nothing lost')
  await session.until(({ metadata }) => metadata.lifecycleState === 'running' && metadata.hostPid === resumed.child.pid)
  await session.say('SCRIPT: text third')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['first', 'second', 'third'])

  await resumed.kill('SIGTERM')
  t.match(listSessions(home), [{ pid: undefined, notes: { id: session.id, turn: null } }], 'and can be resumed again')
})

t.test('a resumed session asks again, whatever mode it had and its agent remembers', async t => {
  const { session, wrapper, home } = await demo(t)
  await session.call('setMode', { mode: 'acceptEdits' })
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'acceptEdits')
  await wrapper.kill('SIGTERM')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  await session.until(({ metadata }) => metadata.lifecycleState === 'running' && metadata.hostPid === resumed.child.pid)
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'default')
  await session.say('SCRIPT: tool write {"path":"pear.txt","content":"ripe"}')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
})

t.test("files that the agent changed before a session was resumed are still run only after a person's review", async t => {
  const { session, wrapper, home } = await demo(t)
  await session.say('SCRIPT: tool write {"path":"run.sh","content":"true"}')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  for (const id of Object.keys(session.state.requests ?? {})) await session.call('permission', { id, approved: true })
  await session.until(session => turnsEnded(session) === 1)
  await wrapper.kill('SIGTERM')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')

  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  await session.say('SCRIPT: tool exec {"command":"sh run.sh"}')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [asked] = Object.values(session.state.requests ?? {})
  t.match(asked?.risk, { level: 'risky', reasons: ['runs-edited'], knowsEdits: true })

  await resumed.kill('SIGKILL')
  runWrapper(t, { home, args: ['resume', session.id] })
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 0)
  await session.say('SCRIPT: tool exec {"command":"ls"}')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [after] = Object.values(session.state.requests ?? {})
  t.match(after?.risk, { level: 'plain', knowsEdits: false }, 'of a process that was cut off not all may be known')
})

t.test('a resumed session continues planning', async t => {
  const { phone, allowed, machine } = await daemonOf(t, await startServer(t))
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo' })
  const session = await phone.session()
  await session.call('setMode', { mode: 'plan' })
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'plan')
  const { hostPid } = session.metadata
  await machine.call('stop-session', { sessionId: session.id })
  await session.say('SCRIPT: text woken')
  await session.until(session => turnsEnded(session) === 1)
  t.not(session.metadata.hostPid, hostPid)
  t.equal(session.metadata.currentOperatingModeCode, 'plan')
})

t.test('a session never has two live processes', async t => {
  const { session, wrapper, home } = await demo(t)
  await wrapper.says(/live/)
  t.match(listSessions(home), [{ pid: wrapper.child.pid, notes: { id: session.id } }])
  const second = runWrapper(t, { home, args: ['resume', session.id] })
  t.equal(await second.ended, 78)
  t.match(second.output, /No ended session matches these words/)
  await wrapper.kill('SIGTERM')

  const both = [1, 2].map(() => runWrapper(t, { home, args: ['resume', session.id] }))
  const loser = await Promise.race(both.map(async one => ({ one, code: await one.ended })))
  t.equal(loser.code, 78, loser.one.output)
  t.match(loser.one.output, /Another process has just resumed|No ended session/)
  const winner = both.find(one => one !== loser.one)
  await winner?.says(/live/)
})

t.test('sessions are listed by what a person knows them by, and found by words', async t => {
  const server = await startServer(t)
  const { phone, home } = await linkedComputer(t, server)
  const none = runWrapper(t, { home, args: ['sessions'] })
  t.equal(await none.ended, 0)
  t.match(none.output, /No session has run on this computer yet/)

  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const session = await phone.session()
  await wrapper.says(/live/)
  const running = runWrapper(t, { home, args: ['sessions', 'demo', session.id] })
  t.equal(await running.ended, 0)
  t.match(running.output, /Demo agent in .*running now/)
  await wrapper.kill('SIGTERM')
  const ended = runWrapper(t, { home, args: ['sessions'] })
  await ended.ended
  t.match(ended.output, /ended just now/)
  const strange = runWrapper(t, { home, args: ['sessions', 'no-such-word'] })
  await strange.ended
  t.match(strange.output, /No session matches these words/)
})

t.test('a message waiting when the wrapper is told to end is read by the next run, once', async t => {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  const sitDown = (...args: string[]) => runOnTerminal(t, { home, directory: home, args })
  const terminal = sitDown('demo')
  const session = await phone.session()
  await session.say(`SCRIPT: slow 60000 ${'word '.repeat(600)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text second')
  await terminal.sees(/1 more message waits/)
  terminal.kill('SIGTERM')
  t.equal(await terminal.ended, 0, terminal.screen)
  t.notOk(texts(session).includes('second'))
  sitDown('resume', session.id)
  await session.until(session => texts(session).includes('second') && turnsEnded(session) === 2)
  t.equal(texts(session).filter(text => text === 'second').length, 1)
})
