import { type SpawnSyncReturns, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { call, type Person, signInBody, signUp } from '../kit/person.ts'
import { programFile } from '../kit/program.ts'
import { startServer } from '../kit/server.ts'

type Ended = Pick<SpawnSyncReturns<string>, 'status' | 'stdout' | 'stderr'>

/** `afield <args>` in a process of its own, as the owner of the machine runs it; nobody answers its questions. */
async function afield(data: string, ...args: string[]): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: '1' }
  const child = spawn(process.execPath, [programFile(), ...args, '--data', data], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { status, stdout, stderr }
}

const keyOf = (stdout: string) => /([a-z]{5}-){3}[a-z]{5}/.exec(stdout)?.[0] ?? 'no key'

async function startOwned(t: Test, signup: 'approve' | 'invite') {
  const data = t.testdir()
  const open = await startServer(t, { data, signup: 'open' })
  const owner = await signUp(t, open)
  await open.close()
  const server = await startServer(t, { data, signup })
  return { data, server, owner }
}

t.test('waiting people are listed, approved and rejected while the server runs', async t => {
  const { data, server, owner } = await startOwned(t, 'approve')
  const secret = new Uint8Array(32).fill(7)
  const enter = async () => call(server, 'POST', '/v1/auth', { body: await signInBody(secret), headers: { 'user-agent': 'an app' } })
  t.equal((await enter()).status, 403)

  const listed = await afield(data, 'users')
  t.match(listed, { status: 0, stderr: '' })
  t.match(listed.stdout, new RegExp(`${owner.id} .* owner `))
  const waiting = listed.stdout.slice(listed.stdout.indexOf('waiting key'))
  t.match(waiting, /127\.0\.0\.1 +an app/)

  t.match(await afield(data, 'users', 'reject', keyOf(waiting)), { status: 0, stdout: /was rejected/ })
  t.match((await enter()).body, { error: 'This server accepts no new accounts.' })
  t.match(await afield(data, 'users', 'approve', keyOf(waiting)), { status: 0, stdout: /is approved/ })
  t.equal((await enter()).status, 200)
  t.match(await afield(data, 'users', 'approve', keyOf(waiting)), {
    status: 1,
    stderr: /^No one with this key is waiting\. See the list with:\n {2}.* users\n$/
  })
  t.match(await afield(data, 'users', 'approve'), { status: 78, stderr: /^users approve needs .*\. See the list with:\n {2}.* users\n$/ })
})

t.test('an account is removed after confirmation, with its sockets, and the owner stays', async t => {
  const { data, server, owner } = await startOwned(t, 'approve')
  const member = await signUpApproved(t, server, data)
  const session = await member.openSession()
  await member.send(session, { localId: 'one' })
  const socket = await member.connect()
  const gone = once(socket as never, 'disconnect')

  t.match(await afield(data, 'users', 'remove', member.id), { status: 78, stderr: /--yes/ })
  t.equal((await member.call('GET', '/v1/sessions')).status, 200)
  t.match(await afield(data, 'users', 'remove', member.id, '--yes'), { status: 0, stdout: /^Removed account .* with 1 message/ })
  await gone
  t.equal((await member.call('GET', '/v1/sessions')).status, 401)
  t.match(await afield(data, 'users', 'remove', member.id, '--yes'), { status: 1, stderr: /no account/ })
  const other = await signUpApproved(t, server, data)
  t.match(await afield(data, 'users', 'remove', owner.id, '--yes'), { status: 1, stderr: /owner/ })
  t.equal((await other.call('GET', '/v1/sessions')).status, 200)
})

t.test('an invitation is created, listed and revoked, with or without a running server', async t => {
  const { data, server } = await startOwned(t, 'invite')
  await server.close()
  const made = await afield(data, 'invite', 'create', 'Ada', '--public-url', 'https://home.example/')
  t.equal(made.status, 0, made.stderr)
  const code = /^https:\/\/home\.example\/#invite=([\w-]{22})\n$/.exec(made.stdout)?.[1]
  t.ok(code, made.stdout)
  const listed = await afield(data, 'invite')
  t.match(listed.stdout, /Ada +unused/)
  t.notOk(listed.stdout.includes(code ?? ''), 'the code is shown once')
  const id = /^ {2}([a-z0-9]{24}) /m.exec(listed.stdout)?.[1] ?? ''
  t.match(await afield(data, 'invite', 'revoke', id), { status: 0 })
  t.match(await afield(data, 'invite'), { stdout: '', stderr: /no invitations/ })
  t.match(await afield(data, 'invite', 'revoke', id), { status: 1, stderr: /^Invitation not found\. See the list with:\n {2}.* invite\n$/ })

  const again = await startServer(t, { data, signup: 'invite' })
  const body = { ...(await signInBody(new Uint8Array(32).fill(9))), invite: code }
  t.equal((await call(again, 'POST', '/v1/auth', { body })).status, 403)
})

t.test('an invitation names the address of the running server, and says when it cannot be used', async t => {
  const { data, server } = await startOwned(t, 'invite')
  const here = await afield(data, 'invite', 'create', 'Ada')
  t.match(here, { status: 78, stdout: '', stderr: `Only this computer can reach the server at ${server.url}.` })
  t.match(await afield(data, 'invite'), { stderr: /no invitations/ }, 'none was made')
  const made = await afield(data, 'invite', 'create', 'Ada', '--public-url', server.url)
  t.match(made, { status: 0, stderr: /shown only once, .*: send it safely\.\n$/ })
  t.equal(made.stdout.split('/#invite=')[0], server.url)
  await server.close()

  const named = await startServer(t, { data, signup: 'owner', publicUrl: 'https://home.example' })
  const useless = await afield(data, 'invite', 'create', 'Grace')
  t.match(useless, { status: 0, stdout: /^https:\/\/home\.example\/#invite=/, stderr: /cannot be used now.*--signup invite/ })
  await named.close()

  t.match(await afield(data, 'invite', 'create', 'Linus'), { status: 78, stdout: '', stderr: /^No server is running .*--public-url\.\n$/ })
  t.notMatch((await afield(data, 'invite')).stdout, 'Linus')
})

async function signUpApproved(t: Test, server: { url: string }, data: string): Promise<Person> {
  const secret = crypto.getRandomValues(new Uint8Array(32))
  await call(server, 'POST', '/v1/auth', { body: await signInBody(secret) })
  const { stdout } = await afield(data, 'users')
  await afield(data, 'users', 'approve', keyOf(stdout.slice(stdout.indexOf('waiting key'))))
  return signUp(t, server, secret)
}
