import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { makeBackup } from '../../../lib/backup/make.ts'
import { restoreBackup } from '../../../lib/backup/restore.ts'
import { CannotStart } from '../../../lib/exit.ts'
import { withAddress } from '../../../lib/local-socket/address.ts'
import { askServer } from '../../../lib/server/control/ask.ts'
import { openStore } from '../../../lib/store/open.ts'
import { signUp } from '../../kit/person.ts'
import { startServer, startServerProcess } from '../../kit/server.ts'

const options = { skip: process.platform === 'win32' ? 'no control socket on Windows' : false }

t.test('a command runs in the server that uses the directory, whose socket is for its owner only', options, async t => {
  const { data } = await startServer(t)
  const status = await askServer(storeIn(data), 'readStatus', {})
  t.match(status, { pid: process.pid, hasAccounts: false })
  t.equal(statSync(join(data, 'control.sock')).mode & 0o777, 0o600)
})

t.test('without a server the same command runs on the store itself, under its lock', async t => {
  const server = await startServer(t)
  await server.close()
  t.equal(existsSync(join(server.data, 'control.sock')), false, 'the socket went with the server')
  t.match(await askServer(storeIn(server.data), 'readStatus', {}), { hasAccounts: false })
  await t.rejects(askServer(storeIn(join(server.data, 'none')), 'readStatus', {}), { message: /There is no data directory/, exitCode: 78 })
})

t.test('a command creates nothing where no server ever ran', async t => {
  const data = t.testdir()
  const [message, exitCode] = [/There is no server data in .* yet: .*afield\.db is created/, 78]
  await t.rejects(askServer(storeIn(data), 'listUsers', {}), { message, exitCode })
  await t.rejects(askServer(storeIn(data), 'createInvite', {}), { message, exitCode })
  t.same(readdirSync(data), [])
})

const asRoot = { skip: process.getuid?.() === 0 ? false : 'only root can work as another user' }

t.test('a command of root leaves every file to the owner of the data, without a server and in a restore', asRoot, async t => {
  const [uid, gid] = [54_321, 54_322]
  const place = mkdtempSync(join(tmpdir(), 'afield-owner-'))
  t.teardown(() => rmSync(place, { recursive: true }))
  chmodSync(place, 0o755)
  const [data, fresh] = [join(place, 'data'), join(place, 'fresh')]
  const server = await startServer(t, { data, signup: 'open' })
  await signUp(t, server)
  await server.close()
  mkdirSync(fresh, { mode: 0o700 })
  for (const file of [fresh, data, ...inside(data)]) chownSync(file, uid, gid)
  for (const name of ['afield.lock', 'reserve']) rmSync(join(data, name), { force: true })

  await askServer(storeIn(data), 'createInvite', {})
  const { file } = await makeBackup({ options: storeIn(data), target: place, passphrase: undefined, now: Date.now(), tell() {} })
  t.equal(statSync(file).uid, 0, 'the backup is its own')
  const restore = { options: storeIn(fresh), file, passphrase: async () => '', force: false, now: Date.now(), tell() {} }
  await t.rejects(restoreBackup(restore), { message: /cannot be read by this user \(EACCES\)\.$/, exitCode: 78 })
  chownSync(file, uid, gid)
  await restoreBackup(restore)
  const others = [...inside(data), ...inside(fresh)].filter(path => statSync(path).uid !== uid || statSync(path).gid !== gid)
  t.same(others, [])
  t.ok(existsSync(join(fresh, 'afield.db')))
  t.equal(process.geteuid?.(), 0)
})

function inside(directory: string): string[] {
  return readdirSync(directory).map(name => join(directory, name))
}

t.test('a command finds the store of a killed server, and the next server can take over', options, async t => {
  const { data, kill } = await startServerProcess(t)
  await kill()
  t.ok(existsSync(join(data, 'control.sock')), 'the dead server left its socket')
  t.match(await askServer(storeIn(data), 'readStatus', {}), { pid: process.pid })

  const { child } = await startServerProcess(t, { data })
  t.match(await askServer(storeIn(data), 'readStatus', {}), { pid: child.pid })
})

t.test('of servers with their own stores in one directory, the first holds the socket, whichever ends first', options, async t => {
  const data = t.testdir({ stores: { one: {}, two: {}, three: {} } })
  const storeOf = async (name: string) => {
    const store = await openStore('sqlite:afield.db', { dataDirectory: join(data, 'stores', name), onBroken() {} })
    t.teardown(() => store.close())
    return store
  }
  const warnings: string[] = []
  const silent = () => {}
  const logger = {
    error: silent,
    warn: (_: object, says: string) => void warnings.push(says),
    info: silent,
    debug: silent,
    isLevelEnabled: () => true
  }
  const one = await startServer(t, { data, store: await storeOf('one') })
  await signUp(t, one)
  const two = await startServer(t, { data, store: await storeOf('two'), logger })
  t.match(warnings, [/No control socket/])
  t.match(await askServer(storeIn(data), 'readStatus', {}), { hasAccounts: true })
  await two.close()
  t.match(await askServer(storeIn(data), 'readStatus', {}), { hasAccounts: true })

  // Whoever took its place meanwhile keeps it.
  rmSync(join(data, 'control.sock'))
  await startServer(t, { data, store: await storeOf('three') })
  await one.close()
  t.ok(existsSync(join(data, 'control.sock')))
})

t.test("the path of the directory may exceed the system's limit for sockets", { skip: process.platform !== 'linux' }, async t => {
  const data = join(t.testdir(), 'd'.repeat(100), 'd'.repeat(100))
  mkdirSync(data, { recursive: true })
  await startServer(t, { data })
  t.match(await askServer(storeIn(data), 'readStatus', {}), { hasAccounts: false })
})

t.test('an invalid request is rejected in one sentence and does the server no harm', options, async t => {
  const { data } = await startServer(t)
  const refused: [path: string, body: string, says: RegExp][] = [
    ['/noSuchCommand', '{}', /does not know this command/],
    ['/toString', '{}', /does not know this command/],
    ['/readStatus', 'not json', /not JSON/],
    ['/readStatus', '{"more":1}', /^Invalid input for readStatus: value\.more is unknown\.$/],
    ['/readStatus', `"${'x'.repeat(70_000)}"`, /too long/]
  ]
  for (const [path, body, says] of refused) {
    t.match(await post(data, path, body), { refused: { says, exitCode: 78 } })
  }
  await t.rejects(askServer(storeIn(data), 'readStatus', { more: 1 } as never), CannotStart)
  t.match(await askServer(storeIn(data), 'readStatus', {}), { hasAccounts: false })
})

t.test('an error that nobody foresaw is logged, and its sender is pointed to the log', options, async t => {
  const data = t.testdir()
  const broken = new Error('the disk of this test is gone')
  const own = await openStore(`sqlite:${join(data, 'afield.db')}`, { dataDirectory: data, onBroken() {} })
  const store = new Proxy(own, {
    get: (target, name) => (name === 'addInvite' ? () => Promise.reject(broken) : Reflect.get(target, name, target))
  })
  t.teardown(() => own.close())
  const logged: unknown[] = []
  const silent = () => {}
  const logger = {
    error: (fields: object) => void logged.push(fields),
    warn: silent,
    info: silent,
    debug: silent,
    isLevelEnabled: () => true
  }
  const heard: unknown[] = []
  await startServer(t, { data, store, logger, onError: error => heard.push(error) })
  t.match(await post(data, '/createInvite', '{}'), { refused: { says: /see its log/, exitCode: 70 } })
  t.match(logged, [{ error: { says: 'the disk of this test is gone' } }])
  t.same(heard, [broken])
  t.match(await post(data, '/revokeInvite', '{"id":1}'), { refused: { exitCode: 78 } })
  t.equal(logged.length, 1, 'what the sender did wrong is no error of the server')
})

function storeIn(data: string) {
  return { data, store: `sqlite:${join(data, 'afield.db')}` }
}

function post(data: string, path: string, body: string): Promise<unknown> {
  const headers = { 'content-length': Buffer.byteLength(body) }
  const ask = (socketPath: string) =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath, path, method: 'POST', headers, agent: false }, answer => resolve(json(answer)))
      asked.once('error', reject).end(body)
    })
  return withAddress(data, 'control.sock', ask)
}
