import fs, { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { type Cipher, cryptoReady } from '../../../lib/crypto/index.ts'
import { openSeenCalls } from '../../../lib/wrapper/home/seen-calls.ts'
import { signUp, type Untyped } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { demo } from '../kit/demo.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('a call is known again by a later process, whatever a crash left of its file, and nobody else can read it [R7, W6]', async t => {
  const path = join(t.testdir(), 'own', 'calls.seen')
  const first = openSeenCalls(path)
  t.ok(first.isFresh('one'))
  t.ok(first.isFresh('two'))
  t.notOk(first.isFresh('one'))
  t.equal(statSync(path).mode & 0o777, 0o600)
  truncateSync(path, statSync(path).size - 2)
  const second = openSeenCalls(path)
  t.notOk(second.isFresh('one'))
  t.ok(second.isFresh('three'), 'one behind a torn line')
  t.notOk(openSeenCalls(path).isFresh('three'))
  appendFileSync(path, 'torn')
  t.ok(openSeenCalls(path).isFresh('torn-not'))
})

t.test('what a caller chose last is known to a later process, however many calls came since [R9]', async t => {
  const path = join(t.testdir(), 'calls.seen')
  const first = openSeenCalls(path, 10)
  t.ok(first.isLatest('phone setMode', 3))
  t.notOk(first.isLatest('phone setMode', 2))
  t.ok(first.isLatest('phone setSetting of\nlines', 2), 'another choice')
  t.ok(first.isLatest('tablet setMode', 1), 'of another caller')
  for (let call = 0; call < 50; call++) first.isFresh(`call-${call}`)
  const later = openSeenCalls(path, 10)
  t.notOk(later.isLatest('phone setMode', 3))
  t.notOk(later.isLatest('phone setSetting of\nlines', 1))
  t.ok(later.isLatest('phone setMode', 4))
})

t.test('a call that a full disk took half of does not hide the next one from a later process [R7]', async t => {
  const path = join(t.testdir(), 'calls.seen')
  const seen = openSeenCalls(path)
  t.ok(seen.isFresh('one'))
  const { writeFileSync } = fs
  fs.writeFileSync = (file, text) => {
    writeFileSync(file, String(text).slice(0, 2))
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  syncBuiltinESMExports()
  t.throws(() => seen.isFresh('two'), { code: 'ENOSPC' })
  Object.assign(fs, { writeFileSync })
  syncBuiltinESMExports()
  t.ok(seen.isFresh('three'))
  t.notOk(openSeenCalls(path).isFresh('three'))
})

t.test('the file of calls does not grow for ever, and the latest are always known', async t => {
  const path = join(t.testdir(), 'calls.seen')
  const seen = openSeenCalls(path, 10)
  for (let call = 0; call < 100; call++) t.ok(seen.isFresh(`call ${call}`))
  t.ok(readFileSync(path, 'utf8').split('\n').length <= 21)
  const later = openSeenCalls(path, 10)
  for (let call = 90; call < 100; call++) t.notOk(later.isFresh(`call ${call}`))
})

/** What a server sees of a call, and can send again whenever it likes. */
function record(cipher: Cipher, target: string, method: string, params: object) {
  return { method: `${target}:${method}`, params: cipher.seal(params) }
}

t.test('a server that sends an old call to a resumed session again gets it refused, and nothing is done [R7]', async t => {
  const { server, phone, home, wrapper, session } = await demo(t)
  await wrapper.says(/ live\n/)
  const app = await signUp(t, server, phone.secret)
  const [{ dataEncryptionKey }] = (await app.call('GET', '/v1/sessions')).body.sessions
  const cipher = accountVault(phone.secret).openKey(dataEncryptionKey)
  if (!cipher) throw new Error('the session is of another account')
  const line = await app.connect()
  const old = record(cipher, session.id, 'bash', { command: 'echo once >> done.txt', cwd: '/' })
  const answerTo = async (call: object): Promise<Untyped> => cipher.open((await line.emitWithAck('rpc-call', call)).result)
  t.match(await answerTo(old), { value: { success: true } })
  t.match(await answerTo(old), { value: { error: 'The call was made before' } })

  await wrapper.kill('SIGTERM')
  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  await resumed.says(/ live\n/)
  t.match(await answerTo(old), { value: { error: 'The call was made before' } })
  t.equal(readFileSync(join(home, 'demo', 'done.txt'), 'utf8'), 'once\n')
})

t.test('a server that sends an old call to a restarted daemon again gets it refused [R7]', async t => {
  await cryptoReady()
  const server = await startServer(t)
  const { phone, home } = await linkedComputer(t, server)
  const first = runWrapper(t, { home, args: ['daemon', 'run'] })
  await first.says(/ live\n/)
  const app = await signUp(t, server, phone.secret)
  const [{ id, dataEncryptionKey }] = (await app.call('GET', '/v1/machines')).body
  const cipher = accountVault(phone.secret).openKey(dataEncryptionKey)
  if (!cipher) throw new Error('the computer is of another account')
  const line = await app.connect()
  const old = record(cipher, id, 'choices', {})
  const answerTo = async (call: object): Promise<Untyped> => cipher.open((await line.emitWithAck('rpc-call', call)).result)
  t.match(await answerTo(old), { value: { agents: [] } })
  await first.kill('SIGKILL')
  const second = runWrapper(t, { home, args: ['daemon', 'run'] })
  await second.says(/ live\n/)
  t.match(await answerTo(old), { value: { error: 'The call was made before' } })
})
