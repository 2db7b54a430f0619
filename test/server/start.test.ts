import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { createServer as createListener } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import t from 'tap'
import { completeOptions } from '../../lib/options.ts'
import { cannotOpen } from '../../sqlite/file/open-error.ts'
import { call, signUp } from '../kit/person.ts'
import { programFile } from '../kit/program.ts'
import { startServer, startServerProcess } from '../kit/server.ts'

/** Runs `afield serve` where it cannot start, and returns all that it said. */
async function serve(args: string[], env: Record<string, string> = {}, user: { uid?: number; gid?: number } = {}) {
  const line = [programFile(), 'serve', ...(args.includes('--port') ? [] : ['--port', '0']), ...args]
  // Without the preloads that the test runner puts into every child, and which would speak up here.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...line], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...user
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [out, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { out, complaint, code }
}

const sentence = /^[^\n]+\.\n$/

t.test('ps and top list a server as afield', { skip: process.platform !== 'linux' && 'needs /proc' }, async t => {
  const { child } = await startServerProcess(t)
  t.equal(readFileSync(`/proc/${child.pid}/comm`, 'utf8'), 'afield\n')
})

t.test('a port in use fails with one sentence and exit code 78', async t => {
  const listener = createListener().listen(0, '127.0.0.1')
  t.teardown(() => listener.close())
  await once(listener, 'listening')
  const address = listener.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const { out, complaint, code } = await serve(['--data', t.testdir(), '--port', String(port)])
  t.equal(code, 78)
  t.equal(out, '')
  t.match(complaint, sentence)
  t.match(complaint, `Port ${port} on 127.0.0.1 cannot be used`)
})

t.test('a listen address not of this computer is reported, with exit code 78', async t => {
  const open = ['--insecure-http', '--data', t.testdir()]
  const foreign = await serve(['--host', '203.0.113.9', ...open])
  t.equal(foreign.code, 78)
  t.match(foreign.complaint, sentence)
  t.match(foreign.complaint, 'This computer does not have the address 203.0.113.9; choose one of its own with --host.')
  const unknown = await serve(['--host', 'nowhere.invalid', ...open])
  t.equal(unknown.code, 78)
  t.match(unknown.complaint, 'The name nowhere.invalid does not resolve')
})

t.test('an unreadable certificate file is reported with its option, with exit code 78', async t => {
  const directory = t.testdir({ 'key.pem': '' })
  const files = ['--tls-cert', join(directory, 'none.pem'), '--tls-key', join(directory, 'key.pem')]
  const { complaint, code } = await serve([...files, '--data', join(directory, 'data')])
  t.equal(code, 78)
  t.match(complaint, sentence)
  t.match(complaint, `The certificate ${join(directory, 'none.pem')} cannot be read (ENOENT); see --tls-cert.`)
})

t.test('an IPv6 address may be in brackets, as in a URL', async t => {
  t.match(completeOptions({ host: '[::1]' }), { host: '::1' })
  t.match(completeOptions({ host: '::1' }), { host: '::1' })
})

t.test('a read-only disk is reported as such, with exit code 78', async t => {
  const refused = cannotOpen('/data/afield.db', Object.assign(new Error(''), { code: 'EROFS' }))
  t.match(refused, { exitCode: 78, message: /^\/data\/afield\.db is on a disk that is mounted read-only; .*--data\.$/ })
  const forbidden = cannotOpen('/data/afield.db', Object.assign(new Error(''), { code: 'EACCES' }))
  t.match(forbidden, {
    exitCode: 78,
    message: /cannot be written by this user.*; check who owns it, and the permissions of its directory\.$/
  })
})

t.test('a second server on the same directory fails with one sentence and exit code 78, and the first continues [F6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const { complaint, code } = await serve(['--data', server.data])
  t.equal(code, 78)
  t.match(complaint, sentence)
  t.match(complaint, `Another Afield server is using ${server.data}`)
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
})

t.test('an unusable directory fails with one sentence and exit code 78 [F4]', async t => {
  const directory = t.testdir({ file: 'not a directory', 'read-only': {} })
  for (const data of [join(directory, 'file'), join(directory, 'file', 'below'), '/proc/afield']) {
    const { complaint, code } = await serve(['--data', data])
    t.equal(code, 78, data)
    t.match(complaint, sentence, data)
    t.match(complaint, data)
  }
})

t.test('a directory without write permission fails with one sentence and exit code 78 [F4]', async t => {
  const directory = t.testdir()
  // Root may write anywhere, so it is another user's server that may not.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  chmodSync(directory, 0o555)
  const { complaint, code } = await serve(['--data', directory], {}, user)
  t.equal(code, 78)
  t.match(complaint, sentence)
  t.match(complaint, directory)
})

t.test('a database of a newer version fails with one sentence and exit code 78, and not a byte of it changes [L3]', async t => {
  const { data, close } = await startServer(t)
  await close()
  const file = join(data, 'afield.db')
  const database = new Database(file)
  database.pragma('user_version = 9999')
  database.close()
  const before = readFileSync(file)
  const { complaint, code } = await serve(['--data', data])
  t.equal(code, 78)
  t.match(complaint, sentence)
  t.match(complaint, /was written by a newer Afield/)
  t.ok(readFileSync(file).equals(before))
})

t.test('a file that is not a database fails with one sentence and exit code 78, and not a byte of it changes [F5]', async t => {
  const data = t.testdir({ 'afield.db': 'a diary, and no database at all'.repeat(100) })
  const before = readFileSync(join(data, 'afield.db'))
  const { complaint, code } = await serve(['--data', data])
  t.equal(code, 78)
  t.match(complaint, sentence)
  t.ok(readFileSync(join(data, 'afield.db')).equals(before))
})

t.test('an invalid option fails with one sentence and exit code 78, on the command line and in the environment', async t => {
  const data = t.testdir()
  const table: [args: string[], env: Record<string, string>, reason: RegExp][] = [
    [['--port', '70000'], {}, /^--port /],
    [[], { AFIELD_SIGNUP: 'everybody' }, /^AFIELD_SIGNUP /],
    [['--host', '0.0.0.0'], {}, /needs HTTPS/],
    [['--tls-cert', 'missing.pem', '--tls-key', 'missing.key'], {}, /certificate missing\.pem/],
    [['--bus', 'nats://ada:secret@host'], {}, /--bus nats:…/]
  ]
  for (const [args, env, reason] of table) {
    const { complaint, code } = await serve(['--data', data, ...args], env)
    t.equal(code, 78, args.join(' '))
    t.match(complaint, sentence)
    t.match(complaint, reason)
    t.notMatch(complaint, /secret/)
  }
})

t.test('the setup code is not printed where a log could store it; its file name is', async t => {
  const data = t.testdir()
  const { child, out } = await startAsOwner(data)
  const code = readFileSync(join(data, 'setup-code'), 'utf8').trim()
  await once(child, 'exit')
  t.match(out(), join(data, 'setup-code'))
  t.match(out(), `restore <backup> --data ${data}`)
  t.notMatch(out(), code)
  t.notMatch(out(), code.replace('-', ''))
})

t.test('SIGTERM and SIGINT shut the server down cleanly, with exit code 0 [L1]', async t => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const data = t.testdir({ [signal]: {} })
    const server = await startServerProcess(t, { data: join(data, signal) })
    const ada = await signUp(t, server)
    const socket = await ada.connect()
    const session = await ada.openSession()
    const sending = Promise.allSettled(Array.from({ length: 30 }, (_, number) => ada.send(session, { localId: `${number}` })))
    const left = once(socket as never, 'disconnect')
    const ended = once(server.child, 'exit')
    server.child.kill(signal)
    t.equal((await left)[0], 'transport close')
    t.same(await ended, [0, null], signal)
    const answered = (await sending).filter(outcome => outcome.status === 'fulfilled' && outcome.value.status === 200).length
    const again = await startServer(t, { data: join(data, signal) })
    const { body } = await call(again, 'GET', `/v3/sessions/${session}/messages`, { token: ada.token })
    t.ok(body.messages.length >= answered, `${answered} answered, ${body.messages.length} stored`)
    await again.close()
  }
})

t.test('a data directory accessible to other users is reported in the log', { skip: process.platform === 'win32' }, async t => {
  const data = t.testdir()
  const warned: unknown[] = []
  const quiet = { error() {}, info() {}, debug() {}, isLevelEnabled: () => false }
  const logger = { ...quiet, warn: (fields: object, message: string) => void warned.push({ ...fields, message }) }
  chmodSync(data, 0o755)
  await (await startServer(t, { data, logger })).close()
  t.match(warned, [{ mode: '755', message: /Other users .* chmod 700$/ }])
  chmodSync(data, 0o700)
  await startServer(t, { data, logger })
  t.equal(warned.length, 1)
})

t.test('a missing data directory is created, for this user only', async t => {
  const data = join(t.testdir(), 'deep', 'er')
  await startServer(t, { data })
  t.equal(statSync(data).mode & 0o777, 0o700)
  t.equal(statSync(join(data, 'afield.db')).mode & 0o777, 0o600)
})

async function startAsOwner(data: string) {
  const child = spawn(process.execPath, [programFile(), 'serve', '--port', '0', '--data', data], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  const { promise: isUp, resolve } = Promise.withResolvers<void>()
  child.stdout.setEncoding('utf8').on('data', piece => {
    out += piece
    if (/setup-code|claude/.test(out)) resolve()
  })
  await isUp
  child.kill('SIGTERM')
  return { child, out: () => out }
}
