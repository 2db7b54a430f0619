import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { version } from '../../../lib/assets.ts'
import { askLocal } from '../../../lib/local-socket/ask.ts'
import { askDaemon } from '../../../lib/wrapper/daemon/control.ts'
import { startDaemon } from '../../../lib/wrapper/daemon/daemon.ts'
import { findDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { listLeases } from '../../../lib/wrapper/home/ownership.ts'
import { makePrivateFolder } from '../../../lib/wrapper/home/private-files.ts'
import { nameOf } from '../../../lib/wrapper/home/processes.ts'
import { createSessionFolder, listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { startServer } from '../../kit/server.ts'
import { daemonOf } from '../kit/daemon.ts'
import { texts, turnsEnded } from '../kit/demo.ts'
import { computerWithSession, leaveBehind } from '../kit/left-behind.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

const noSignals = { skip: process.platform === 'win32' && 'no signals' }

/** A daemon in this process, and what it told. */
async function daemonHere(t: Test, { token }: { token?: string } = {}) {
  const server = await startServer(t)
  const { home: path, phone } = await linkedComputer(t, server)
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('the computer is linked')
  const told: string[] = []
  const bell = new EventTarget()
  const tell = (line: string) => {
    told.push(line)
    bell.dispatchEvent(new Event('news'))
  }
  const start = () => {
    const given = token === undefined ? credentials : { server: server.url, keys: credentials.keys, token }
    const daemon = startDaemon({ home, credentials: given, env: { PATH: '/nowhere' }, fetch, tell })
    t.teardown(daemon.stop)
    return daemon
  }
  const says = async (line: string) => {
    while (!told.includes(line)) await once(bell, 'news')
  }
  return { server, path, machineId: home.machineId, phone, told, start, says }
}

t.test('a daemon says how it is to its owner and to a phone, until its owner stops it', async t => {
  const { server, path, machineId, phone, told, start, says } = await daemonHere(t)
  const before = Date.now()
  const { ended } = start()
  t.match(findDaemon(path), { pid: process.pid, server: server.url, version: version(), link: 'connecting' })
  await says('live')
  t.match(findDaemon(path), { link: 'live' })
  const machine = await phone.machine()
  await machine.until(async () => (await machine.state())?.pid === process.pid)
  t.match(await machine.metadata(), { cliAvailability: { claude: false } })
  t.match(await machine.call('keep-awake', {}), { on: false })
  const metadata = { path: t.testdirName, host: 'here', machineId, flavor: 'demo', agentSessionId: 'one' }
  const versions = { metadataVersion: 1, agentStateVersion: 1, seq: 0 }
  const fallback = { metadata, ...versions, encryptionKey: Buffer.alloc(32).toString('base64'), encryptionVariant: 'dataKey' }
  writeFileSync(join(path, 'policy.json'), JSON.stringify({ folders: [t.testdirName] }), { mode: 0o600 })
  const remembered = machine.call('resume-happy-session', { sessionId: 'nobody', fallback })
  await t.rejects(remembered, /^The server does not know the session\.$/, 'an app can tell of it, and it was asked')

  const status = await askDaemon(path, 'status')
  t.match(status, { pid: process.pid, link: 'live' })
  t.ok(Number(status?.startedAt) >= before)
  t.strictSame(await askDaemon(path, 'list'), [])
  const notes = { tag: 'one', id: 'one', server: server.url, key: null, metadata: { path, host: 'here' }, cursor: 0, turn: null }
  const folder = createSessionFolder(path, notes)
  t.strictSame(await askDaemon(path, 'list'), [{ id: 'one', pid: process.pid, folder: path }])
  folder.remove()

  t.strictSame(await askDaemon(path, 'stop'), {})
  t.equal(await ended, 'stopped')
  t.match(await machine.state(), { status: 'offline' })
  t.strictSame(told, ['live', 'stopped'])
  t.equal(findDaemon(path), undefined)
  t.equal(await askDaemon(path, 'status'), undefined, 'nobody answers any more')
})

t.test('a phone stops a daemon, or has it replaced', async t => {
  const { phone, told, start, says } = await daemonHere(t)
  const first = start()
  await says('live')
  const machine = await phone.machine()
  t.match(await machine.call('restart', {}), { message: /restarts/ })
  t.equal(await first.ended, 'restarts')
  t.equal(told.at(-1), 'restarts')
  told.length = 0
  const second = start()
  await says('live')
  t.match(await machine.call('stop-daemon', {}), { message: /acknowledged/ })
  t.equal(await second.ended, 'stopped')
})

t.test('a daemon whose link was ended says so, and runs on', async t => {
  const { path, start, says } = await daemonHere(t, { token: 'nonsense' })
  const daemon = start()
  await says('unlinked')
  t.match(await askDaemon(path, 'status'), { link: 'unlinked' })
  daemon.stop()
  t.equal(await daemon.ended, 'stopped')
})

t.test('a phone starts a session on a computer, and it outlives the daemon', async t => {
  const { phone, allowed, machine, process } = await daemonOf(t, await startServer(t))
  const started = await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo', prompt: 'SCRIPT: text hello' })
  t.match(started, { type: 'success' })
  const session = await phone.session()
  t.match(started, { sessionId: session.id })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['hello'])
  t.match(session.metadata, { path: allowed, startedBy: 'daemon', startedFromDaemon: true })

  await process.kill('SIGTERM')
  await session.say('SCRIPT: text still here')
  await session.until(session => turnsEnded(session) === 2)
  await session.call('killSession', {})
})

t.test('a session is stopped and resumed from the phone, in the same folder', async t => {
  const { phone, allowed, machine } = await daemonOf(t, await startServer(t))
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo' })
  const session = await phone.session()
  t.match(await machine.call('stop-session', { sessionId: session.id }), { message: 'Session stopped' })
  await t.rejects(machine.call('stop-session', { sessionId: 'nobody' }), /No such session runs/)
  await session.say('SCRIPT: text after')
  t.match(await machine.call('resume-happy-session', { sessionId: session.id }), { type: 'success', sessionId: session.id })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['after'])
  await session.call('killSession', {})
  await t.rejects(machine.call('resume-happy-session', { sessionId: 'nobody' }), /does not know the session/)
})

t.test('a folder is created only when a person confirmed, and only where sessions may start', async t => {
  const { home, allowed, machine } = await daemonOf(t, await startServer(t))
  const directory = join(allowed, 'new')
  const ask = { directory, agent: 'demo', approvedNewDirectoryCreation: false }
  t.match(await machine.call('spawn-happy-session', ask), { type: 'requestToApproveDirectoryCreation' })
  t.equal(statSync(directory, { throwIfNoEntry: false }), undefined)

  symlinkSync('/', join(allowed, 'way-out'))
  for (const forbidden of ['/etc', join(allowed, '..'), join(allowed, 'way-out', 'etc'), home, `${allowed}-not`]) {
    await t.rejects(machine.call('spawn-happy-session', { directory: forbidden, agent: 'demo' }), /allowed|Afield’s own folder/, forbidden)
    await t.rejects(machine.call('listDirectory', { path: forbidden }), /allowed|Afield’s own folder/, forbidden)
  }
  t.match(await machine.call('listDirectory', { path: allowed }), { success: true, entries: [{ name: 'way-out' }] })
})

t.test("a phone can set an agent's keys and models, and nothing that makes it run other programs", async t => {
  const { allowed, machine } = await daemonOf(t, await startServer(t))
  for (const name of ['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'CLAUDE_CODE_EXECUTABLE', 'AFIELD_HOME', 'HOME']) {
    const ask = { directory: allowed, agent: 'demo', environmentVariables: { [name]: '/tmp/evil' } }
    await t.rejects(machine.call('spawn-happy-session', ask), new RegExp(`${name} cannot be set`))
  }
  await t.rejects(machine.call('spawn-happy-session', { directory: allowed, agent: 'nonsense' }), /has no agent called nonsense/)
  const { agents } = Object(await machine.call('choices', {}))
  t.match(agents.at(-1), { agent: 'demo', title: 'Demo agent' })
})

t.test('there is one daemon per home; it reports its state, and its notes are private', async t => {
  const { home, process, machine } = await daemonOf(t, await startServer(t))
  await machine.until(async () => (await machine.state())?.pid === process.child.pid)
  t.match(await machine.state(), { status: 'running' })
  const second = runWrapper(t, { home, args: ['daemon', 'run'] })
  t.equal(await second.ended, 78)
  t.match(second.output, new RegExp(`already running, as process ${process.child.pid}`))
  const status = runWrapper(t, { home, args: ['daemon'] })
  t.equal(await status.ended, 0)
  t.match(status.output, /started just now\n/)
  t.match(status.output, /Link +live/)
  t.equal(statSync(join(home, 'daemon')).mode & 0o777, 0o700)

  const stop = runWrapper(t, { home, args: ['daemon', 'stop'] })
  t.equal(await stop.ended, 0)
  t.equal(await process.ended, 0)
  t.match(await machine.state(), { status: 'offline' })
  const after = runWrapper(t, { home, args: ['daemon', 'status'] })
  t.equal(await after.ended, 3)
})

t.test('a background daemon is started and stopped, writes a log, and stops for a phone', async t => {
  const server = await startServer(t)
  const { phone, home } = await linkedComputer(t, server)
  const start = runWrapper(t, { home, args: ['daemon', 'start'] })
  t.equal(await start.ended, 0, start.output)
  const machine = await phone.machine()
  await machine.until(async () => (await machine.state())?.status === 'running')
  t.match(await machine.call('stop-daemon', {}), { message: /acknowledged/ })
  await machine.until(async () => (await machine.state())?.status === 'offline')
  t.match(readFileSync(join(home, 'logs', 'daemon.log'), 'utf8'), /live/)
})

t.test('the daemon answers its owner on a private socket, and survives malformed requests [W7]', async t => {
  const { home, process: daemon, phone, machine, allowed } = await daemonOf(t, await startServer(t))
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo' })
  const session = await phone.session()
  t.equal(statSync(join(home, 'daemon', 'control.sock')).mode & 0o777, 0o600)
  t.match(await askDaemon(home, 'status'), { pid: daemon.child.pid, link: 'live' })
  t.match(await askDaemon(home, 'list'), [{ id: session.id, folder: allowed }])
  const at = { directory: join(home, 'daemon'), file: 'control.sock' }
  for (const name of ['nonsense', 'toString', '']) await t.rejects(askLocal({ ...at, name, question: {} }), /does not know this command/)
  await t.rejects(askLocal({ ...at, name: 'status', question: 'x'.repeat(70_000) }), /too long/)

  t.match(await askDaemon(home, 'stop'), {})
  t.equal(await daemon.ended, 0)
  t.equal(await askDaemon(home, 'status'), undefined, 'nobody answers any more')
  await session.call('killSession', {})
})

t.test('a killed daemon leaves its socket to the next one [W7]', async t => {
  const { home, process: daemon } = await daemonOf(t, await startServer(t))
  await daemon.kill('SIGKILL')
  t.ok(statSync(join(home, 'daemon', 'control.sock')))
  t.equal(await askDaemon(home, 'status'), undefined)
  const next = runWrapper(t, { home, args: ['daemon', 'run'] })
  await next.says(/ live\n/)
  t.match(await askDaemon(home, 'status'), { pid: next.child.pid })
})

/** A computer with messages of a dead process, whose daemon runs in this process and has no network. */
async function offlineDaemon(t: Test) {
  const { home: path, server, folder } = await computerWithSession(t)
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('the computer is linked')
  const told: string[] = []
  const tell = (line: string) => void told.push(line)
  const start = () => startDaemon({ home, credentials, env: {}, fetch: () => Promise.reject(new Error('no network')), tell })
  return { path, folder, told, start }
}

t.test('a daemon has ended once the agents that it ends have, and what it was delivering is free for others', noSignals, async t => {
  const { path, folder, told, start } = await offlineDaemon(t)
  await leaveBehind(path, folder, 'kept')
  const deliverers = () => listSessions(path).flatMap(({ deliverer }) => deliverer ?? [])
  const slow = "process.on('SIGTERM', () => setTimeout(process.exit, 300)); setInterval(() => {}, 1000); console.log('up')"
  const orphan = spawn(process.execPath, ['-e', slow], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => orphan.kill('SIGKILL'))
  await once(orphan.stdout, 'data')
  makePrivateFolder(join(path, 'processes'))
  const notes = { of: 'agent', title: 'Claude Code', folder: '/', at: 0 }
  writeFileSync(join(path, 'processes', `${nameOf(orphan.pid ?? 0)}@999999-1.json`), JSON.stringify(notes))

  const first = start()
  first.stop()
  t.equal(await first.ended, 'stopped')
  t.strictSame(listLeases(path), [])
  const second = start()
  while (deliverers().length === 0) await new Promise(resolve => setImmediate(resolve))
  t.strictSame(deliverers(), [process.pid])
  second.stop()
  t.equal(await second.ended, 'stopped')
  t.strictSame(deliverers(), [])
  t.equal(findDaemon(path), undefined)
  t.equal(told.at(-1), 'stopped')
})

t.test('what a daemon cannot deliver is in its log, and it runs on', async t => {
  const { path, folder, told, start } = await offlineDaemon(t)
  const says = async (pattern: RegExp) => {
    while (!told.some(line => pattern.test(line))) await new Promise(resolve => setImmediate(resolve))
  }
  folder.note({ sentUpTo: { file: path, offset: 0 } })
  await leaveBehind(path, folder, 'of one whose transcript is a folder')
  const first = start()
  await says(/^Messages of an earlier session could not be delivered: EISDIR/)
  first.stop()
  await first.ended

  rmSync(join(path, 'processes'), { recursive: true, force: true })
  writeFileSync(join(path, 'processes'), '')
  const second = start()
  await says(/^leftovers: E[A-Z]+: /)
  t.match(await askDaemon(path, 'status'), { pid: process.pid })
  rmSync(join(path, 'processes'))
  second.stop()
  t.equal(await second.ended, 'stopped')
})
