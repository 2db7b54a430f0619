import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listLeases } from '../../../lib/wrapper/home/ownership.ts'
import { nameOf } from '../../../lib/wrapper/home/processes.ts'
import { startServer } from '../../kit/server.ts'
import { daemonOf } from '../kit/daemon.ts'
import { turnsEnded } from '../kit/demo.ts'

t.test('a phone sees what runs on a computer and its resource use, and ends it; nothing else can be ended this way', async t => {
  const { phone, allowed, machine, home } = await daemonOf(t, await startServer(t))
  const started = Object(await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo' }))
  const session = await phone.session()
  const read = async () => Object(await machine.call('processes', {})).processes

  const [running, ...others] = await read()
  t.strictSame(others, [])
  t.match(running, { session: started.sessionId, title: 'Demo agent', folder: allowed, isLeftOver: false })
  t.ok(running.processes >= 2, 'with the agent')
  t.ok(running.memoryBytes > 20_000_000, `${running.memoryBytes} bytes`)
  t.ok(Math.abs(Date.now() - running.startedAt) < 120_000)
  t.equal(running.id, nameOf(running.pid))

  for (const id of [`${process.pid}`, nameOf(process.pid) ?? '', `${running.pid}-1`, '1-0'])
    await t.rejects(machine.call('end-process', { id }), /not started by Afield/, id)
  t.match(await machine.call('end-process', { id: running.id }), { message: 'The session has ended.' })
  t.strictSame(await read(), [])
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  t.strictSame(listLeases(home), [], 'and its agent with it')
})

t.test('processes left by a killed session are ended by the next daemon, and never a process that reuses an id', async t => {
  const { allowed, machine, process: daemon, home, again } = await daemonOf(t, await startServer(t))
  // One that does not end when its session does, as some agents do not.
  const script = join(allowed, 'stays.mjs')
  writeFileSync(script, 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)')
  const stays = spawn(process.execPath, [script], { detached: true, stdio: 'ignore' })
  t.teardown(() => stays.kill('SIGKILL'))
  const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
  t.teardown(() => bystander.kill('SIGKILL'))
  mkdirSync(join(home, 'processes'), { recursive: true, mode: 0o700 })
  const note = JSON.stringify({ of: 'agent', title: 'stays', folder: allowed, at: 0 })
  const gone = execFileSync(process.execPath, ['-p', 'process.pid']).toString().trim()
  writeFileSync(join(home, 'processes', `${nameOf(stays.pid ?? 0)}@${gone}-1.json`), note)
  writeFileSync(join(home, 'processes', `${bystander.pid}-1@${gone}-1.json`), note)
  t.match(Object(await machine.call('processes', {})).processes, [{ pid: stays.pid, isLeftOver: true, title: 'stays' }])

  await daemon.kill('SIGTERM')
  const ended = new Promise(resolve => stays.once('exit', (_, signal) => resolve(signal)))
  await again()
  t.equal(await ended, 'SIGKILL')
  t.equal(bystander.exitCode ?? bystander.signalCode, null, 'its id was that of a process of before')
})

t.test("a session that fails at startup shows the reason from its agent's last lines", async t => {
  const { allowed, machine, home } = await daemonOf(t, await startServer(t), { PATH: '/nowhere' })
  await t.rejects(machine.call('spawn-happy-session', { directory: allowed, agent: 'gemini' }), /The command gemini was not found/)
  t.notOk(existsSync(join(home, 'starting')) && statSync(join(home, 'starting')).size > 4096)
})

t.test("an agent's first message is on no command line", async t => {
  const { phone, allowed, machine } = await daemonOf(t, await startServer(t))
  await machine.call('spawn-happy-session', {
    directory: allowed,
    agent: 'demo',
    prompt: 'SCRIPT: text secret-words',
    parentSessionId: 'p1'
  })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.metadata, { parentSessionId: 'p1' })
  const { pid } = Object(await machine.call('processes', {})).processes[0]
  if (process.platform === 'linux') t.notMatch(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /secret-words/)
})
