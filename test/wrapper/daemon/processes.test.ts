import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { endSessions, processMethods } from '../../../lib/wrapper/daemon/processes.ts'
import { listLeases } from '../../../lib/wrapper/home/ownership.ts'
import { nameOf } from '../../../lib/wrapper/home/processes.ts'
import { createSessionFolder, listOpenSessions, readNotes } from '../../../lib/wrapper/home/session-folder.ts'
import { isEndedByLogout, isEndedByPerson, type SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import { startServer } from '../../kit/server.ts'
import { daemonOf } from '../kit/daemon.ts'
import { turnsEnded } from '../kit/demo.ts'

const skip = process.platform !== 'linux' && 'the names of processes are made up as they are there'

/** A computer with processes that wait, of which some run its sessions. */
function computer(t: Test) {
  const home = t.testdir({ processes: {} })
  const metadata = { path: '/p', host: 'h' }
  /** Resolves when it waits; `onTerm` runs when it is told to end. */
  const waiting = async (onTerm = 'process.exit(7)') => {
    const lines = `process.on('SIGTERM', () => { ${onTerm} }); process.stdout.write('up'); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['-e', lines], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit').then(([code, signal]) => signal ?? code)
    await once(child.stdout, 'data')
    const pid = child.pid ?? 0
    return { pid, name: nameOf(pid) ?? '', ended }
  }
  const session = (id: string | undefined, name: string, about: Partial<SessionNotes['metadata']> = {}) => {
    const notes = { tag: 'a', id, server: 's', key: null, metadata: { ...metadata, ...about }, cursor: 0, turn: null }
    const path = join(home, 'sessions', `${id ?? 'new'}@${name}`)
    renameSync(createSessionFolder(home, notes).path, path)
    return path
  }
  const leased = (name: string, owner: string, of: 'agent' | 'session', at: number) =>
    writeFileSync(join(home, 'processes', `${name}@${owner}.json`), JSON.stringify({ of, title: 'Codex', folder: '/q', at }))
  return { home, methods: processMethods(home), waiting, session, leased }
}

t.test('the processes of other sessions are listed with what is known of them, and this one is not', { skip }, async t => {
  const { methods, waiting, session } = computer(t)
  t.strictSame(methods.processes(), { processes: [] })
  const own = nameOf(process.pid) ?? ''
  session('own', own)
  session('ended', '999999999-1')
  const [one, two] = [await waiting(), await waiting()]
  session('s1', one.name, { agentTitle: 'Gemini' })
  session(undefined, two.name)
  const shown = methods.processes().processes.map(({ startedAt, memoryBytes, memoryIs, inShells, ...rest }) => rest)
  t.same(new Set(shown.map(({ id }) => id)), new Set([one.name, two.name]))
  t.strictSame(
    shown.find(({ id }) => id === one.name),
    { id: one.name, pid: one.pid, processes: 1, isLeftOver: false, title: 'Gemini', folder: '/p', session: 's1' }
  )
  t.strictSame(
    shown.find(({ id }) => id === two.name),
    { id: two.name, pid: two.pid, processes: 1, isLeftOver: false, title: 'An agent', folder: '/p' }
  )
})

t.test('an agent is left over when what started it is gone, and a start without a session after two minutes', { skip }, async t => {
  const { methods, waiting, session, leased } = computer(t)
  const { name, pid, ended } = await waiting()
  const own = nameOf(process.pid) ?? ''
  const isListed = () => methods.processes().processes.length === 1
  const minuteMs = 60_000
  leased(name, own, 'agent', 0)
  t.notOk(isListed(), 'its owner runs')
  leased(name, own, 'session', Date.now() - 1.9 * minuteMs)
  t.notOk(isListed(), 'it starts')
  leased(name, own, 'session', Date.now() - 2.1 * minuteMs)
  t.match(methods.processes(), { processes: [{ id: name, pid, isLeftOver: true, title: 'Codex', folder: '/q' }] })
  const path = session('s1', name)
  t.match(methods.processes(), { processes: [{ isLeftOver: false, session: 's1' }] })
  renameSync(path, join(path, '..', 's1@999999999-1'))
  leased(name, own, 'agent', 0)
  t.notOk(isListed())
  leased(name, '999999999-1', 'agent', Date.now())
  t.ok(isListed())
  t.strictSame(await methods['end-process']({ id: name }), { message: 'The process has ended.' })
  t.equal(await ended, 7)
  t.strictSame(methods.processes(), { processes: [] })
})

t.test('a session that is ended with its process stays ended, and no other process can be', { skip }, async t => {
  const { methods, waiting, session } = computer(t)
  const { name, pid, ended } = await waiting()
  const path = session('s1', name)
  const none = { message: 'This process has already ended, or was not started by Afield.' }
  for (const id of ['', 's1', `${pid}`, `${pid}-1`, nameOf(process.pid) ?? '']) await t.rejects(methods['end-process']({ id }), none, id)
  t.strictSame(await methods['end-process']({ id: name }), { message: 'The session has ended.' })
  t.equal(await ended, 7)
  t.ok(isEndedByPerson({ path, notes: { cursor: 0 } }))
  await t.rejects(methods['end-process']({ id: name }), none)
})

t.test('a session is stopped by its id or its process, and the answer comes once it reads no more messages', { skip }, async t => {
  const { methods, waiting, session } = computer(t)
  const stop = (sessionId: string) => methods['stop-session']({ sessionId })
  const stopped = { message: 'Session stopped' }
  const one = await waiting()
  const path = session('s1', one.name)
  session('own', nameOf(process.pid) ?? '')
  const none = { message: 'No such session runs on this computer.' }
  for (const id of ['s2', '', 'own', `PID-${process.pid}`, `PID-${one.pid}0`, `xPID-${one.pid}`, `${one.pid}`])
    await t.rejects(stop(id), none, id)
  t.strictSame(await stop('s1'), stopped)
  t.equal(await one.ended, 7)
  t.ok(isEndedByPerson({ path, notes: { cursor: 0 } }))
  t.notOk(isEndedByLogout(path))
  await t.rejects(stop('s1'), none)

  const two = await waiting('')
  const other = session('s3', two.name)
  const stopping = stop(`PID-${two.pid}`)
  writeFileSync(join(other, 'session.json'), JSON.stringify({ ...readNotes(other), isEnding: true }))
  t.strictSame(await stopping, stopped)
  t.equal(nameOf(two.pid), two.name, 'it still ends')
})

t.test('sessions of which one logs out end, and can say so', { skip }, async t => {
  const { home, waiting, session } = computer(t)
  const { name, pid, ended } = await waiting('setTimeout(() => process.exit(7), 50)')
  const path = session('s1', name)
  const gone = session('s2', '999999999-1')
  await endSessions(listOpenSessions(home))
  t.equal(nameOf(pid), undefined, 'it was awaited')
  t.equal(await ended, 7)
  t.ok(isEndedByLogout(path))
  t.notOk(isEndedByLogout(gone))
  t.same(new Set(readdirSync(join(home, 'sessions'))), new Set([`s1@${name}`, 's2@999999999-1']))
})

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
