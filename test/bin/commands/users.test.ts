import t, { type Test } from 'tap'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { call, signInBody, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { here } from '../kit/here.ts'

const seeList = `See the list with:\n  ${typed('users')}\n`
const minute = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`
const key = '(?:[a-z]{5}-){3}[a-z]{5}'

async function startOwned(t: Test) {
  const data = t.testdir()
  const open = await startServer(t, { data, signup: 'open' })
  const owner = await signUp(t, open)
  await open.close()
  const server = await startServer(t, { data, signup: 'approve' })
  const users = (action?: string, who?: unknown, options: object = {}) => here(t, 'users', { data, action, who, ...options })
  return { server, owner, users }
}

t.test('accounts are listed, and below them who waits and how they are approved', async t => {
  const { server, owner, users } = await startOwned(t)
  const account = new RegExp(
    `^ {2}account +key +role +since +last seen +messages +size\n {2}${owner.id} +${key} +owner +${minute} +${minute} +0 +\\d.*B\n`
  )
  const alone = await users()
  t.strictSame({ ...alone, stdout: '' }, { code: 0, stdout: '', stderr: '' })
  t.match(alone.stdout, account)
  t.equal(alone.stdout.split('\n').length, 3, 'nobody waits')
  const body = await signInBody(new Uint8Array(32).fill(7))
  t.equal((await call(server, 'POST', '/v1/auth', { body, headers: { 'user-agent': 'an app' } })).status, 403)
  const { stdout } = await users('list')
  t.match(stdout, account)
  t.match(
    stdout.slice(stdout.indexOf('\n\n')),
    new RegExp(
      `^\n\n {2}waiting key +from +client +asked +until\n {2}${key} +127\\.0\\.0\\.1 +an app +${minute} +${minute}\n\nCheck whose .*with:\n`
    )
  )
  t.ok(stdout.endsWith(`\nCheck whose key it is before you approve it. Approve a request with:\n  ${typed('users approve <key>')}\n`))
})

t.test('who waits is rejected or approved by the key', async t => {
  const { server, users } = await startOwned(t)
  const ask = async () => call(server, 'POST', '/v1/auth', { body: await signInBody(new Uint8Array(32).fill(7)) })
  await ask()
  const { stdout } = await users()
  const waiting = new RegExp(key).exec(stdout.slice(stdout.indexOf('waiting key')))?.[0]
  t.strictSame(await users('reject', waiting), {
    code: 0,
    stdout: `${waiting} was rejected and cannot ask again for 15 minutes.\n`,
    stderr: ''
  })
  t.equal((await ask()).body.error, 'This server accepts no new accounts.')
  t.strictSame(await users('approve', waiting), {
    code: 0,
    stdout: `${waiting} is approved: signing in again within 15 minutes creates the account.\n`,
    stderr: ''
  })
  t.equal((await ask()).status, 200)
  for (const action of ['approve', 'reject'])
    t.strictSame(await users(action, waiting), { code: 1, stdout: '', stderr: `No one with this key is waiting. ${seeList}` }, action)
})

t.test('an account is removed only by its ID and a yes', async t => {
  const { owner, users, server } = await startOwned(t)
  const failed = (code: number, stderr: string) => ({ code, stdout: '', stderr })
  for (const [action, what] of [
    ['approve', 'the key of someone waiting'],
    ['reject', 'the key of someone waiting'],
    ['remove', 'the ID of an account']
  ] as const)
    t.strictSame(await users(action), failed(78, `users ${action} needs ${what}. ${seeList}`))
  const none = 'a'.repeat(owner.id.length)
  t.strictSame(await users('remove', none, { yes: true }), failed(1, `There is no account ${none}. ${seeList}`))
  t.strictSame(await users('remove', owner.id), failed(78, 'Cannot ask for confirmation here; add --yes to skip it.\n'))

  const member = await joined()
  const session = await member.openSession()
  await member.send(session, { localId: 'one' })
  const lost = new RegExp(`^Removed account ${member.id} with 1 message \\(\\d.*B\\)\\.\n$`)
  t.match((await users('remove', member.id, { yes: true })).stdout, lost)
  t.equal((await member.call('GET', '/v1/sessions')).status, 401)
  const other = await joined()
  t.match((await users('remove', other.id, { yes: true })).stdout, new RegExp(`^Removed account ${other.id} with 0 messages `))
  t.equal((await call(server, 'GET', '/v1/sessions', { token: owner.token })).status, 200)

  async function joined() {
    const secret = crypto.getRandomValues(new Uint8Array(32))
    await call(server, 'POST', '/v1/auth', { body: await signInBody(secret) })
    const { stdout } = await users()
    await users('approve', new RegExp(key).exec(stdout.slice(stdout.indexOf('waiting key')))?.[0])
    return signUp(t, server, secret)
  }
})

t.test('without an account, and without a server, that is said', async t => {
  const { data } = await startServer(t)
  t.strictSame(await here(t, 'users', { data }), { code: 0, stdout: '', stderr: `There are no accounts yet in ${data}\n` })
})
