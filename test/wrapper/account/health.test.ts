import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { version } from '../../../lib/assets.ts'
import type { Fetch } from '../../../lib/client/link/rest.ts'
import { examineComputer } from '../../../lib/wrapper/account/health.ts'
import { claimDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { lease } from '../../../lib/wrapper/home/ownership.ts'
import { nameOf, ownName } from '../../../lib/wrapper/home/processes.ts'
import { createSessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import { readPolicy } from '../../../lib/wrapper/session/methods/policy.ts'
import { startServer } from '../../kit/server.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('a computer lists its problems, in lines with what to do', async t => {
  const server = await startServer(t)
  const { home } = await linkedComputer(t, server)
  const env = { PATH: '/nowhere', XDG_CONFIG_HOME: join(home, '..', 'none') }
  const look = async (now = Date.now) => {
    const found = await examineComputer({ home: openHome({ AFIELD_HOME: home }), env, fetch, now })
    return Object.fromEntries(found.map(finding => [finding.of, finding]))
  }
  mkdirSync(join(home, 'compiled'))
  chmodSync(join(home, 'compiled'), 0o755)
  t.match(await look(), {
    'wrapper folder': { state: 'ok' },
    link: { state: 'ok', says: `linked to an account on ${server.url}` },
    'home server': { state: 'ok' },
    'clock here': { state: 'ok' },
    agents: { state: 'warn', says: /none found/ },
    daemon: { state: 'warn', says: /not running/, advice: /daemon start/ },
    undelivered: { state: 'ok', says: 'nothing is waiting' },
    processes: { state: 'ok' }
  })
  t.match(await look(() => Date.now() - 3_600_000), { 'clock here': { state: 'warn', says: /3\d\d\d s behind the server’s clock/ } })

  chmodSync(join(home, 'compiled'), 0o777)
  t.match(await look(), { 'wrapper folder': { state: 'fail', says: /compiled/ } })
  chmodSync(join(home, 'compiled'), 0o755)
  chmodSync(join(home, 'credentials.json'), 0o644)
  writeFileSync(join(home, 'policy.json'), '{ "folders": ["relative"] }', { mode: 0o600 })
  await server.close()
  t.match(await look(), {
    'wrapper folder': { state: 'fail', says: /credentials\.json/, advice: /chmod/ },
    'home server': { state: 'fail', says: /is not responding \(\w+\)/ },
    'allowed folders': { state: 'fail', says: /nothing is allowed/ }
  })
  const doctor = runWrapper(t, { home, args: ['doctor', '--data', join(home, '..', 'no-data')] })
  t.equal(await doctor.ended, 1)
  t.match(doctor.output, /fail +home server/)
  t.notMatch(doctor.output, /data directory/, 'no server is kept here')
})

t.test('every right of others to the wrapper folder counts, of the group and of all', async t => {
  const own = t.testdir({ home: { 'credentials.json': '{}' } })
  const home = join(own, 'home')
  const stateAt = async (mode: number) => {
    chmodSync(join(home, 'credentials.json'), mode)
    const found = await examineComputer({ home: openHome({ AFIELD_HOME: home }), env: { PATH: '/nowhere' }, fetch, now: Date.now })
    return found.find(({ of }) => of === 'wrapper folder')?.state
  }
  chmodSync(home, 0o700)
  t.equal(await stateAt(0o600), 'ok')
  for (const bit of [0o040, 0o020, 0o010, 0o004, 0o002, 0o001]) t.equal(await stateAt(0o600 | bit), 'fail', bit.toString(8))
})

t.test('the allowed folder that is gone is the one to remove', async t => {
  const own = t.testdir({ home: {}, first: {} })
  const [home, first, gone] = [join(own, 'home'), join(own, 'first'), join(own, 'gone')]
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [first, gone] }))
  const found = await examineComputer({ home: openHome({ AFIELD_HOME: home }), env: { PATH: '/nowhere' }, fetch, now: Date.now })
  const finding = found.find(({ of }) => of === 'allowed folders')
  t.match(finding, { state: 'warn', says: `${gone} does not exist` })
  t.equal(finding?.advice?.split('allow --remove ')[1], gone)
})

t.test('a server that is not Afield does not count as healthy', async t => {
  const other = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('It works!'))
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const home = openHome({ AFIELD_HOME: join(t.testdir(), 'home') })
  const address = other.address()
  const server = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const found = await examineComputer({ home, env: { PATH: '/nowhere', AFIELD_SERVER: server }, fetch, now: Date.now })
  t.match(
    found.find(({ of }) => of === 'home server'),
    { state: 'fail', says: /is not an Afield server/ }
  )
})

t.test('the answer of the server is read to its end, or its connection would keep the process running', async t => {
  const server = await startServer(t)
  const { home } = await linkedComputer(t, server)
  const answers: Response[] = []
  const noting = async (...asked: Parameters<typeof fetch>) => {
    const answer = await fetch(...asked)
    answers.push(answer)
    return answer
  }
  await examineComputer({ home: openHome({ AFIELD_HOME: home }), env: { PATH: '/nowhere' }, fetch: noting, now: Date.now })
  t.same(
    answers.map(({ bodyUsed }) => bodyUsed),
    [true]
  )
})

t.test('folders are allowed and disallowed, and nothing else in the file changes', async t => {
  const own = realpathSync(t.testdir({ home: {}, code: {} }))
  const [home, code] = [join(own, 'home'), join(own, 'code')]
  const allow = async (...args: string[]) => {
    const run = runWrapper(t, { home, args: ['allow', ...args], env: { HOME: own } })
    return { code: await run.ended, says: run.output }
  }
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'policy.json'), '{ "shell": false }')
  t.match(await allow(code), { code: 0, says: new RegExp(code) })
  t.match(readPolicy(home), { folders: [own, code], hasShell: false }, 'the home directory stays')
  t.equal(statSync(join(home, 'policy.json')).mode & 0o777, 0o600)
  t.match(await allow(code), { code: 0 })
  t.match(await allow('--remove', own), { code: 0 })
  t.strictSame(readPolicy(home).folders, [code], 'once')
  t.match(await allow('--remove', own), { code: 78, says: /is not an allowed folder/ })
  t.match(await allow(join(own, 'nothing')), { code: 78, says: /does not exist/ })
  writeFileSync(join(home, 'policy.json'), '{ "folders": 7 }')
  t.match(await allow(code), { code: 78, says: /cannot be read/ })
})

t.test('a computer that is not linked is told the command that finds its server, with no address of someone else', async t => {
  const home = openHome({ AFIELD_HOME: join(t.testdir(), 'home') })
  const found = await examineComputer({ home, env: { PATH: '/nowhere' }, fetch, now: Date.now })
  t.match(
    found.find(({ of }) => of === 'link'),
    { state: 'warn', advice: /^Run: .* login$/ }
  )
})

t.test('all files that others can read are counted, and the first is named', async t => {
  const { home, finding } = computer(t)
  const file = (name: string, mode: number) => {
    writeFileSync(join(home, name), '')
    chmodSync(join(home, name), mode)
    return join(home, name)
  }
  const of = 'wrapper folder'
  file('private', 0o600)
  t.strictSame(await finding(of), { of, state: 'ok', says: `${home}, private` })
  const advice = `chmod -R go= ${home}`
  const one = file('open-1', 0o604)
  t.strictSame(await finding(of), { of, state: 'fail', says: `other users can read ${one}`, advice })
  file('open-2', 0o640)
  file('open-3', 0o640)
  t.strictSame(await finding(of), { of, state: 'fail', says: `other users can read ${one} and 2 more`, advice })
})

t.test('keys that cannot be read, and a server without any, are mended by a login', async t => {
  const { home, finding } = computer(t, { AFIELD_SERVER: 'https://home.example' })
  const of = 'link'
  t.strictSame(await finding(of), {
    of,
    state: 'warn',
    says: 'not linked to an account on https://home.example',
    advice: `Run: ${typed('login --server https://home.example')}`
  })
  writeFileSync(join(home, 'credentials.json'), 'no JSON', { mode: 0o600 })
  const damaged = await finding(of)
  t.match(damaged, { state: 'fail', says: `${join(home, 'credentials.json')}`, advice: `Run: ${typed('login')}` })
  t.notMatch(damaged?.advice, '--server')
})

t.test('a server that answers with an error, or not at all, is named with the reason', async t => {
  const of = 'home server'
  const answering =
    (status: number): Fetch =>
    async () => ({ status, headers: new Headers({ 'content-type': 'application/json' }), text: async () => '' })
  const failing =
    (error: unknown): Fetch =>
    () =>
      Promise.reject(error)
  const cases: [fetch: Fetch, state: string, says: string, advice?: string][] = [
    [answering(200), 'ok', 'https://home.example answers'],
    [answering(503), 'fail', 'https://home.example answers 503', 'See its log'],
    [
      failing(new TypeError('failed', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) })),
      'fail',
      notResponding('ENOTFOUND'),
      keptOnDisk
    ],
    [failing(new DOMException('late', 'TimeoutError')), 'fail', notResponding('23'), keptOnDisk],
    [failing(new RangeError('odd')), 'fail', notResponding('RangeError'), keptOnDisk],
    [failing('odd'), 'fail', notResponding('unknown'), keptOnDisk]
  ]
  for (const [fetch, state, says, advice] of cases) {
    const { finding } = computer(t, { AFIELD_SERVER: 'https://home.example' }, fetch)
    t.strictSame(await finding(of), { of, state, says, ...(advice && { advice }) })
  }
})

const notResponding = (code: string) => `https://home.example is not responding (${code})`
const keptOnDisk = 'Check the network and that the server is running; unsent data is kept on disk'

t.test('installed agents are listed with their versions, and those that are not signed in with how to', async t => {
  const of = 'agents'
  const { own, finding } = computer(t, { CODEX_HOME: '/nowhere', CLAUDE_CONFIG_DIR: '/nowhere' })
  const bin = join(own, 'bin')
  const program = (name: string, script: string) => writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const look = (env: Record<string, string> = {}) => finding(of, { PATH: bin, ...env })
  program('codex', 'echo codex 0.99.1')
  program('goose', 'exit 1')
  t.strictSame(await look({ OPENAI_API_KEY: 'k' }), { of, state: 'ok', says: 'Codex 0.99.1, Goose' })
  t.strictSame(await look(), { of, state: 'warn', says: 'Codex 0.99.1, Goose; not signed in: Codex', advice: 'Run: codex login' })
  program('gemini', 'echo 0.2.0')
  t.strictSame(await look(), {
    of,
    state: 'warn',
    says: 'Codex 0.99.1, Gemini 0.2.0, Goose; not signed in: Codex, Gemini',
    advice: 'Run: codex login, gemini'
  })
  rmSync(bin, { recursive: true })
  t.strictSame(await look(), {
    of,
    state: 'warn',
    says: 'none found in PATH',
    advice: 'For example: npm install -g @anthropic-ai/claude-code'
  })
})

t.test('a daemon of another version is to be replaced, and one without a link has its reason in the log', async t => {
  const of = 'daemon'
  const { home, finding } = computer(t)
  const daemon = claimDaemon(home, { pid: 7, server: 'https://home.example', version: version(), startedAt: 0, link: 'live' })
  const runs = `process 7, version ${version()}`
  t.strictSame(await finding(of), { of, state: 'ok', says: `${runs}, live` })
  daemon.note({ link: 'away' })
  t.strictSame(await finding(of), { of, state: 'warn', says: `${runs}, away`, advice: `See: ${typed('daemon logs')}` })
  daemon.note({ version: '0.0.9', link: 'live' })
  t.strictSame(await finding(of), {
    of,
    state: 'warn',
    says: `process 7, version 0.0.9, live; this is ${version()}`,
    advice: `Run: ${typed('daemon stop')}, then ${typed('daemon start')}`
  })
})

t.test('the service is named if it is installed', { skip: process.platform !== 'linux' && 'systemd is of Linux' }, async t => {
  const of = 'service'
  const { own, finding } = computer(t)
  const config = { XDG_CONFIG_HOME: own }
  t.strictSame(await finding(of, config), {
    of,
    state: 'ok',
    says: `not installed; ${typed('daemon install')} starts the daemon whenever you sign in`
  })
  mkdirSync(join(own, 'systemd', 'user'), { recursive: true })
  writeFileSync(join(own, 'systemd', 'user', 'afield.service'), '')
  t.strictSame(await finding(of, config), { of, state: 'ok', says: `installed, ${join(own, 'systemd', 'user', 'afield.service')}` })
})

t.test('what is not on the server yet is measured, and who left it there is told', async t => {
  const of = 'undelivered'
  const { home, finding } = computer(t)
  const sessions = join(home, 'sessions')
  const session = (tag: string, bytes: number) => {
    const notes = { tag, server: 'https://home.example', key: null, metadata: { path: home, host: 'here' }, cursor: 0, turn: null }
    createSessionFolder(home, { ...notes, program: { kind: 'demo' } })
    const path = join(sessions, `${tag}@${ownName()}`)
    writeFileSync(join(path, 'outbox.journal'), '')
    truncateSync(join(path, 'outbox.journal'), bytes)
    return path
  }
  const kill = (path: string) => {
    const killed = path.replace(/@.*/, '@999999999-1')
    renameSync(path, killed)
    return killed
  }
  session('empty', 0)
  mkdirSync(join(sessions, 'silent@999999999-1'))
  t.strictSame(await finding(of), {
    of,
    state: 'warn',
    says: '0.0 MB of journals; one session was killed before everything was delivered',
    advice: `Run: ${typed('flush')}`
  })
  rmSync(join(sessions, 'silent@999999999-1'), { recursive: true })
  t.strictSame(await finding(of), { of, state: 'ok', says: 'nothing is waiting' })
  const [one, two] = [session('one', 64 * 1024 * 1024 - 1), session('two', 1)]
  t.strictSame(await finding(of), { of, state: 'ok', says: '67.1 MB of journals' })
  truncateSync(join(two, 'outbox.journal'), 2)
  t.strictSame(await finding(of), {
    of,
    state: 'warn',
    says: '67.1 MB of journals',
    advice: 'Check whether the server can be reached; above 256 MB per session the least important data is dropped'
  })
  kill(one)
  t.match(await finding(of), { state: 'warn', says: /^67\.1 MB of journals; one session was killed before everything was delivered$/ })
  const killed = kill(two)
  t.match(await finding(of), { state: 'warn', says: /; 2 sessions were killed before/, advice: /flush$/ })
  rmSync(join(killed, 'session.json'))
  t.strictSame(await finding(of), {
    of,
    state: 'warn',
    says: `67.1 MB of journals; the notes of ${killed} are damaged`,
    advice: 'Its content cannot be delivered; inspect or remove it'
  })
})

t.test('agents of killed sessions are listed; those of a running one, and sessions, are not left over', async t => {
  const of = 'processes'
  const { home, finding } = computer(t)
  lease(process.pid, { of: 'agent', title: 'Codex', folder: home }, home)
  t.strictSame(await finding(of), { of, state: 'ok', says: 'none left over' })
  const note = (kind: string, title: string) => JSON.stringify({ of: kind, title, folder: home, at: 0 })
  writeFileSync(join(home, 'processes', `${nameOf(process.pid)}@999999998-1.json`), note('session', 'Session'))
  t.strictSame(await finding(of), { of, state: 'ok', says: 'none left over' })
  writeFileSync(join(home, 'processes', `${nameOf(process.pid)}@999999999-1.json`), note('agent', 'Claude Code'))
  t.strictSame(await finding(of), {
    of,
    state: 'warn',
    says: `left over from killed sessions: Claude Code (${process.pid})`,
    advice: 'The next session, or the daemon when it starts, ends them'
  })
})

/** One that is not linked to an account, and what is found there. */
function computer(t: Test, env: Record<string, string> = {}, fetch: Fetch = () => Promise.reject(new Error('unasked'))) {
  const own = t.testdir({ bin: {}, home: {} })
  const home = join(own, 'home')
  chmodSync(home, 0o700)
  const finding = async (of: string, more: Record<string, string> = {}) => {
    const all = { PATH: '/nowhere', XDG_CONFIG_HOME: join(own, 'none'), ...env, ...more }
    const found = await examineComputer({ home: openHome({ AFIELD_HOME: home }), env: all, fetch, now: Date.now })
    return found.find(finding => finding.of === of)
  }
  return { own, home, finding }
}
