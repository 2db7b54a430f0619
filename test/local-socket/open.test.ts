import { chmodSync, existsSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import { createServer as createNetServer, type Server } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { CannotStart } from '../../lib/exit.ts'
import { hasLocalSockets, withAddress } from '../../lib/local-socket/address.ts'
import { askLocal } from '../../lib/local-socket/ask.ts'
import { type LocalSocket, openLocalSocket } from '../../lib/local-socket/open.ts'

const file = 'test.sock'

const options = { skip: !hasLocalSockets && 'no local sockets' }

t.test('a question is answered with its progress, through a socket that only its owner can use [W7]', options, async t => {
  const asked: Asked[] = []
  const { directory } = await open(t, {
    async answer(name, question, tell) {
      asked.push({ name, question })
      tell({ done: 1, total: 2 })
      tell({ done: 2, total: 2 })
      return { said: 'yes' }
    }
  })
  const progress: object[] = []
  t.strictSame(await ask(directory, { name: 'copy', question: { to: 'there' }, tell: step => progress.push(step) }), {
    reply: { said: 'yes' }
  })
  t.strictSame(asked, [{ name: 'copy', question: { to: 'there' } }])
  t.strictSame(progress, [
    { done: 1, total: 2 },
    { done: 2, total: 2 }
  ])
  t.equal(statSync(join(directory, file)).mode & 0o777, 0o600)
  t.strictSame(readdirSync(directory), [file], 'where it was created is gone')
})

t.test('a reply without progress arrives too, in lines of JSON', options, async t => {
  const { directory } = await open(t, { answer: async () => null })
  t.strictSame(await ask(directory), { reply: null })
  const { body, headers } = await post(directory, '/any', '{}')
  t.equal(body, '{"reply":null}\n')
  t.equal(headers['content-type'], 'application/x-ndjson')
})

t.test('a refusal is thrown with its sentence and exit code', options, async t => {
  const { directory } = await open(t, {
    answer: () => Promise.reject(new Error('no')),
    refusalOf: error => ({ says: `It says ${(error as Error).message}.`, exitCode: 65 })
  })
  await t.rejects(ask(directory), { name: 'CannotStart', message: 'It says no.', exitCode: 65 })
})

t.test('a request that is no question has no name, and one that is not JSON or too long is not asked', options, async t => {
  const { directory, asked } = await open(t)
  await post(directory, '/any', '{}', 'PUT')
  t.strictSame(asked, [{ name: '', question: {} }])
  t.match((await post(directory, '/any', 'no')).body, /"refused":\{"says":"The question is not JSON\.","exitCode":78\}/)
  const longest = JSON.stringify('x'.repeat(64 * 1024 - 2))
  t.match((await post(directory, '/any', longest)).body, /"reply"/)
  t.match((await post(directory, '/any', `${longest} `)).body, /The question is too long\./)
  t.equal(asked.length, 2)
})

t.test('whoever answers learns when the reply was sent', options, async t => {
  const answered: Promise<void>[] = []
  const { directory } = await open(t, {
    async answer(_, __, ___, isAnswered) {
      answered.push(isAnswered)
      return 'done'
    }
  })
  await ask(directory)
  await answered[0]
  t.equal(answered.length, 1)
})

t.test('whoever answers learns that its caller has gone', options, async t => {
  const begun = Promise.withResolvers<{ gone: Promise<void> }>()
  const { directory } = await open(t, {
    answer(_, __, ___, gone) {
      begun.resolve({ gone })
      return new Promise(() => {})
    }
  })
  await withAddress(directory, file, async socketPath => {
    const asking = request({ socketPath, path: '/any', method: 'POST', agent: false })
      .on('error', () => {})
      .end('{}')
    const { gone } = await begun.promise
    asking.destroy()
    await t.resolves(gone)
  })
})

t.test('an error outside of any answer is reported, and its connection closed', options, async t => {
  const errors: unknown[] = []
  const { directory } = await open(t, {
    answer: () => Promise.reject(new Error('first')),
    refusalOf() {
      throw new Error('second')
    },
    onError: error => errors.push(error)
  })
  await t.rejects(ask(directory), { code: 'ECONNRESET' })
  t.match(errors, [{ message: 'second' }])
})

t.test('a socket that a process listens on is left to it, one that nobody listens on is replaced', options, async t => {
  const { directory, socket } = await open(t)
  await t.rejects(openLocalSocket(optionsFor(directory)), {
    name: 'CannotStart',
    message: `Another process listens at ${join(directory, file)}.`
  })
  t.strictSame(await ask(directory), { reply: 'the reply' })
  t.strictSame(readdirSync(directory), [file])

  const dead = createNetServer()
  await listen(dead, directory, 'left')
  await socket.close()
  renameSync(join(directory, 'left'), join(directory, file))
  await new Promise(resolve => dead.close(resolve))
  t.strictSame(await ask(directory), undefined)
  const next = await openLocalSocket(optionsFor(directory))
  t.teardown(() => next.close())
  t.strictSame(await ask(directory), { reply: 'the reply' })
})

t.test('closing removes the socket and ends its connections, and leaves what another process put there', options, async t => {
  const begun = Promise.withResolvers<void>()
  const { directory, socket } = await open(t, {
    answer() {
      begun.resolve()
      return new Promise(() => {})
    }
  })
  const asking = ask(directory)
  await begun.promise
  await socket.close()
  await t.rejects(asking)
  t.notOk(existsSync(join(directory, file)))

  const other = await open(t)
  rmSync(join(other.directory, file))
  writeFileSync(join(other.directory, file), 'of another')
  await other.socket.close()
  t.ok(existsSync(join(other.directory, file)))
  rmSync(join(other.directory, file))
  await t.resolves(other.socket.close(), 'twice, with nothing left')
})

t.test('where no socket can be created, opening rejects and leaves nothing', options, async t => {
  const directory = join(t.testdir(), 'none')
  await t.rejects(openLocalSocket(optionsFor(directory)), { code: 'ENOENT' })
  const taken = t.testdir({ [file]: { inside: '' } })
  await t.rejects(openLocalSocket(optionsFor(taken)), { code: /EISDIR|ENOTEMPTY/ })
  t.strictSame(readdirSync(taken), [file])
})

t.test('the path may be longer than the system allows for sockets', { skip: process.platform !== 'linux' && 'it needs /proc' }, async t => {
  const directory = t.testdir({ ['d'.repeat(120)]: {} })
  const deep = join(directory, 'd'.repeat(120))
  const socket = await openLocalSocket(optionsFor(deep))
  t.teardown(() => socket.close())
  t.strictSame(await ask(deep), { reply: 'the reply' })
  const isOpen = (handle: string) => readlinkIfAny(`/proc/self/fd/${handle}`) === deep
  t.strictSame(readdirSync('/proc/self/fd').filter(isOpen), [], 'the directory does not stay open')
})

t.test('where nothing listens there is no answer', options, async t => {
  t.equal(await ask(t.testdir()), undefined)
})

t.test('a socket of another user says so', options, async t => {
  const { directory } = await open(t)
  chmodSync(join(directory, file), 0)
  // Root may open any socket.
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  const refused = await ask(directory).catch(error => error)
  if (isRoot) process.seteuid?.(0)
  t.match(refused, { name: 'CannotStart', message: /belongs to another user; run this command as that user\.$/ })
})

t.test('an answer that does not come from Afield is an error, as is one that ends early', options, async t => {
  const directory = t.testdir()
  let says = ''
  const server = createServer((_, response) => void response.end(says))
  t.teardown(() => server.close())
  await listen(server, directory, file)
  await t.rejects(ask(directory), { name: 'CannotStart', message: 'The server exited before it answered.', exitCode: 75 })
  says = '{"reply":1,"more":2}\n'
  await t.rejects(ask(directory), { name: 'Misfit' })
  says = '{"progress":{"done":1,"total":2}}\n{"reply":3}\n'
  t.strictSame(await ask(directory), { reply: 3 }, 'progress that nobody wants is left out')
})

/** A handle of the listing itself is closed by then. */
function readlinkIfAny(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

interface Asked {
  name: string
  question: unknown
}

type Options = Parameters<typeof openLocalSocket>[0]

function optionsFor(directory: string, given: Partial<Options> = {}, asked: Asked[] = []): Options {
  return {
    directory,
    file,
    answer: async (name, question) => {
      asked.push({ name, question })
      return 'the reply'
    },
    refusalOf: error => ({ says: (error as Error).message, exitCode: error instanceof CannotStart ? error.exitCode : 70 }),
    onError() {},
    ...given
  }
}

async function open(t: Test, given: Partial<Options> = {}): Promise<{ directory: string; socket: LocalSocket; asked: Asked[] }> {
  const asked: Asked[] = []
  const directory = t.testdir()
  const socket = await openLocalSocket(optionsFor(directory, given, asked))
  t.teardown(() => socket.close())
  return { directory, socket, asked }
}

function ask(directory: string, more: Partial<Parameters<typeof askLocal>[0]> = {}) {
  return askLocal({ directory, file, name: 'any', question: {}, ...more })
}

function listen(server: Server, directory: string, name: string): Promise<void> {
  return withAddress(directory, name, address => new Promise(resolve => server.listen(address, resolve)))
}

function post(directory: string, path: string, body: string, method = 'POST') {
  return withAddress(directory, file, async socketPath => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request({ socketPath, path, method, agent: false }, resolve).once('error', reject).end(body)
    const answer = await promise
    return { body: await text(answer), headers: answer.headers }
  })
}
