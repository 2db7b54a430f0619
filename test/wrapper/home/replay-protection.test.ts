import fs, { appendFileSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { type Cipher, cryptoReady, dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import { type HeardOptions, openHeardMessages, openNumbersFile, openSeenCalls } from '../../../lib/wrapper/home/replay-protection.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { signUp, type Untyped } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { demo } from '../kit/demo.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.before(() => cryptoReady())

function hear(t: Test, how: Partial<HeardOptions> = {}) {
  const faults: string[] = []
  const clock = manualClock()
  const options: HeardOptions = {
    path: join(t.testdir(), 'session', 'messages.heard'),
    session: 's1',
    isWhole: true,
    refusesNameless: () => false,
    onNamed: () => {},
    onFault: (type, count = 1) => void faults.push(`${type} ${count}`),
    clock,
    ...how
  }
  const { seal } = dataKeyCipher(engine.randomBytes(32))
  const by = (number: number, gone: number[] = []) => ({
    sender: 'a',
    number,
    session: 's1',
    gone: gone.map(number => ({ sender: 'a', number }))
  })
  return { options, faults, clock, seal, by }
}

t.test('a message is accepted once, read again at its place, and rejected at any other, by a later process too [W13]', async t => {
  const { options, faults, seal, by } = hear(t)
  const first = openHeardMessages(options)
  const message = { seq: 4, content: seal('one'), by: by(1) }
  t.ok(first.take(message))
  t.ok(first.take(message))
  t.notOk(first.take({ ...message, seq: 5 }))
  const bare = { seq: 6, content: seal('bare'), by: undefined }
  t.ok(first.take(bare))

  const later = openHeardMessages(options)
  t.ok(later.take(message))
  t.notOk(later.take({ ...message, seq: 7 }))
  t.notOk(later.take({ ...bare, seq: 8 }), 'what has no name is known by its seal')
  t.ok(later.take({ seq: 9, content: seal('two'), by: by(2) }))
  t.strictSame(faults, ['message-repeated 1', 'message-repeated 1', 'message-repeated 1'])

  const anew = openHeardMessages({ ...options, session: 's2' })
  t.notOk(anew.take(message), 'not at the same number of a session that was opened anew')
})

t.test('a missing message is reported after a while, unless its sender withdrew it [W13]', async t => {
  const { options, faults, clock, seal, by } = hear(t)
  const heard = openHeardMessages(options)
  t.ok(heard.take({ seq: 1, content: seal(1), by: by(1) }))
  t.ok(heard.take({ seq: 2, content: seal(3), by: by(3) }))
  t.ok(heard.take({ seq: 3, content: seal(6), by: by(6) }))
  clock.advance(29_000)
  t.strictSame(faults, [])
  t.ok(heard.take({ seq: 4, content: seal(7), by: by(7, [2]) }))
  clock.advance(1_000)
  t.strictSame(faults, ['message-missing 2'])
  t.ok(heard.take({ seq: 5, content: seal(4), by: by(4) }), 'it is carried out late')
  t.strictSame(faults, ['message-missing 2', 'message-late 1'])
  heard.close()
})

t.test('a message for another session, or unnamed where all have names, is rejected [W13]', async t => {
  let refuses = false
  const named: boolean[] = []
  const { options, faults, seal, by } = hear(t, { refusesNameless: () => refuses, onNamed: () => void named.push(true) })
  const heard = openHeardMessages(options)
  t.notOk(heard.take({ seq: 1, content: seal(1), by: { ...by(1), session: 's2' } }))
  t.strictSame(named, [])
  t.ok(heard.take({ seq: 2, content: seal('old'), by: undefined }))
  t.ok(heard.take({ seq: 3, content: seal(1), by: by(1) }))
  refuses = true
  t.notOk(heard.take({ seq: 4, content: seal('older'), by: undefined }))
  t.strictSame(named, [true])
  t.strictSame(faults, ['message-astray 1', 'message-nameless 1'])
})

t.test(
  'a full disk ends no session at a message, and accepted ones are written as soon as there is space [W13]',
  { skip: process.platform !== 'linux' && 'needs /dev/full' },
  t => {
    const { options, seal, by } = hear(t)
    const heard = openHeardMessages(options)
    const messages = [1, 2, 3].map(number => ({ seq: number, content: seal(number), by: by(number) }))
    const [first, second, third] = messages
    t.ok(first && heard.take(first))
    const path = join(t.testdirName, 'session', 'messages.heard')
    // Neither the file nor the one that shall take its place.
    for (const full of [path, `${path}.${process.pid}.new`]) {
      rmSync(full, { force: true })
      symlinkSync('/dev/full', full)
    }
    t.ok(second && heard.take(second))
    t.ok(third && heard.take(third))
    heard.close()
    const later = openHeardMessages(options)
    for (const message of messages) t.notOk(later.take({ ...message, seq: message.seq + 10 }), 'a later process knows it')
    t.end()
  }
)

const folder = (t: Test) => join(t.testdir(), 'numbers')

t.test('numbers rise across processes, and a repeat keeps its own [W13]', async t => {
  const path = folder(t)
  const first = openNumbersFile(path)
  const one = first.next('one')
  t.equal(one.number, 1)
  t.equal(first.next('two').number, 2)
  t.strictSame(first.next('one'), one)
  await first.settled()
  first.close()

  const later = openNumbersFile(path)
  t.strictSame(later.next('one'), one, 'by the same sender')
  t.equal(later.next('three').number, 3)
  later.close()
})

t.test('a torn line belongs to a message that was not sent [W13]', async t => {
  const path = folder(t)
  const first = openNumbersFile(path)
  const { sender } = first.next('one')
  first.close()
  appendFileSync(path, '7 tor')
  const later = openNumbersFile(path)
  t.strictSame(later.next('two'), { sender, number: 2 })
  later.close()
  t.match(readFileSync(path, 'utf8'), /\n1 one\n2 two\n$/)
})

t.test('half a line lost to a full disk costs no message its number [W13, W16]', async t => {
  const path = folder(t)
  const first = openNumbersFile(path)
  const { sender } = first.next('one')
  const makeRoom = fillDisk()
  t.teardown(makeRoom)
  t.throws(() => first.next('two'), { code: 'ENOSPC' })
  makeRoom()
  t.strictSame(first.next('two'), { sender, number: 2 })
  t.strictSame(first.next('three'), { sender, number: 3 })
  first.close()
  const later = openNumbersFile(path)
  t.strictSame(later.next('two'), { sender, number: 2 })
  t.strictSame(later.next('four'), { sender, number: 4 })
  later.close()
})

t.test('withdrawn numbers are announced with the next message, including those that it was to announce [W13]', async t => {
  const numbers = openNumbersFile(folder(t))
  const one = numbers.next('one')
  numbers.giveUp(one)
  const two = numbers.next('two')
  const gone = [{ sender: one.sender, number: 1 }]
  t.strictSame(two.gone, gone)
  numbers.giveUp(two)
  t.strictSame(numbers.next('three').gone, [...gone, { sender: one.sender, number: 2 }])
  t.equal(numbers.next('four').gone, undefined)
  numbers.close()
})

t.test('a folder restored to an older state counts as a new sender [W13]', async t => {
  const path = folder(t)
  const numbers = openNumbersFile(path)
  const { sender } = numbers.next('one')
  numbers.noteStored({ sender: 'another', number: 9 })
  t.equal(numbers.next('two').sender, sender)
  numbers.noteStored({ sender, number: 9 })
  const after = numbers.next('three')
  t.not(after.sender, sender)
  t.equal(after.number, 1)
  t.ok(numbers.isOwn(sender))
  t.ok(numbers.isOwn(after.sender))
  numbers.close()
  t.equal(openNumbersFile(path).next('three').sender, after.sender)
})

t.test('the file is bounded [W13]', async t => {
  const path = folder(t)
  const numbers = openNumbersFile(path, 10)
  for (let each = 1; each <= 100; each++) numbers.next(`m${each}`)
  numbers.close()
  t.ok(readFileSync(path, 'utf8').split('\n').length < 25)
  const later = openNumbersFile(path, 10)
  t.equal(later.next('m101').number, 101)
  t.equal(later.next('m95').number, 95)
  later.close()
})

/** It takes the beginning of what is written; returns how to make room again. */
function fillDisk(): () => void {
  const { writeFileSync, writeSync } = fs
  fs.writeFileSync = (file, text) => {
    if (typeof file === 'number') writeSync(file, String(text).slice(0, 2))
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  fs.writeSync = (file: number, text: unknown) => writeSync(file, String(text).slice(0, 2))
  syncBuiltinESMExports()
  return () => {
    Object.assign(fs, { writeFileSync, writeSync })
    syncBuiltinESMExports()
  }
}

t.test('a call is recognized by a later process, whatever a crash left of its file, and nobody else can read it [R7, W6]', async t => {
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

t.test("a caller's last choice is known to a later process, however many calls came since [R9]", async t => {
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

t.test('a call half written to a full disk does not hide the next one from a later process [R7]', async t => {
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

t.test('the file of calls is bounded, and the latest are always known', async t => {
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

t.test('a replayed call to a resumed session is rejected, and nothing is done [R7]', async t => {
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
  t.match(await answerTo(old), { value: { error: 'The call repeats an earlier one' } })

  await wrapper.kill('SIGTERM')
  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  await resumed.says(/ live\n/)
  t.match(await answerTo(old), { value: { error: 'The call repeats an earlier one' } })
  t.equal(readFileSync(join(home, 'demo', 'done.txt'), 'utf8'), 'once\n')
})

t.test('a replayed call to a restarted daemon is rejected [R7]', async t => {
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
  t.match(await answerTo(old), { value: { error: 'The call repeats an earlier one' } })
})
