import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { call, signUp } from '../kit/person.ts'
import { programFile } from '../kit/program.ts'
import { startServer } from '../kit/server.ts'

/** `afield token <args>` in a process of its own, as the owner of the machine runs it. */
async function token(data: string, ...args: string[]) {
  const env = { ...process.env, NO_COLOR: '1' }
  const line = [programFile(), 'token', ...args, '--data', data]
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { status, stdout, stderr }
}

t.test('a token is created, listed without its text, and revoked while the server runs', async t => {
  const server = await startServer(t)
  t.match(await token(server.data, 'create', 'ci'), { status: 78, stderr: 'There are no accounts yet.\n' })
  await signUp(t, server)

  const made = await token(server.data, 'create', 'ci', '--scope', 'read,write', '--days', '30')
  t.match(made, { status: 0, stderr: /Shown only once/, stdout: /^afield1-named\.\S+\n$/ })
  t.match((await token(server.data)).stdout, /ci +read write +never +\d{4}-/, 'nobody has used it')
  t.match(await token(server.data, 'create', 'ci', '--scope', 'everything'), {
    status: 78,
    stderr: /^--scope must be one or more of read, write/
  })
  const [secret = ''] = made.stdout.split('\n')
  const use = (method: string, path: string, body?: object) => call(server, method, path, { token: secret, ...(body && { body }) })
  t.equal((await use('POST', '/v1/sessions', { tag: 'x', metadata: 'x' })).status, 200)
  t.equal((await use('GET', '/v1/devices')).status, 403)

  const listed = await token(server.data)
  t.match(listed.stdout, /ci +read write +(never|\d{4}-)/)
  t.notMatch(listed.stdout, secret.split('.')[2])
  const id = /^ {2}([a-z2-7]{24})/m.exec(listed.stdout)?.[1] ?? ''
  t.match(await token(server.data, 'revoke', id), { status: 0, stdout: /can no longer be used/ })
  t.equal((await use('GET', '/v1/sessions')).status, 401)
  t.match(await token(server.data, 'revoke', id), { status: 1, stderr: /^Token not found\. See the list with:\n {2}.* token\n$/ })
})

t.test('with several accounts, the account must be named', async t => {
  const server = await startServer(t)
  const [ada, grace] = [await signUp(t, server), await signUp(t, server)]
  t.match(await token(server.data, 'create', 'ci'), { status: 78, stderr: /^There are 2 accounts; choose one with --account/ })
  const { stdout } = await token(server.data, 'create', 'ci', '--account', grace.id)
  const { body } = await call(server, 'GET', '/v1/account/profile', { token: stdout.split('\n')[0] })
  t.equal(body.id, grace.id)
  t.not(body.id, ada.id)
})
