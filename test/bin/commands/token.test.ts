import t from 'tap'
import { shownTime } from '../../../bin/table.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { call, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { here } from '../kit/here.ts'

const minute = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`
const idIn = (text: string) => /token revoke (\w{24})\n/.exec(text)?.[1] ?? ''

async function startWithToken(t: Parameters<typeof startServer>[0]) {
  const server = await startServer(t)
  const token = (action?: string, what?: string, options: object = {}) =>
    here(t, 'token', { data: server.data, scope: 'read', action, what, ...options })
  return { server, token }
}

t.test('a token is shown once, listed with what it may do and when it was used, and revoked', async t => {
  const { server, token } = await startWithToken(t)
  await signUp(t, server)
  const none = `There are no named tokens in ${server.data}. Create one with:\n  ${typed('token create <name>')}\n`
  t.strictSame(await token(), { code: 0, stdout: '', stderr: none })

  const made = await token('create', 'ci', { scope: 'read,write' })
  t.match(made.stdout, /^afield1-named\.\S+\n$/)
  const id = idIn(made.stderr)
  t.equal(made.stderr, `\nShown only once. It may read, write. Revoke it with:\n  ${typed(`token revoke ${id}`)}\n`)
  t.equal((await token('list')).stdout.replace(/ +/g, ' '), ` token for allows last used until\n ${id} ci read write never never\n`)
  const secret = made.stdout.trim()
  t.equal((await call(server, 'GET', '/v1/sessions', { token: secret })).status, 200)
  t.strictSame(await token('revoke', id), { code: 0, stdout: `The token ${id} can no longer be used.\n`, stderr: '' })
  t.equal((await call(server, 'GET', '/v1/sessions', { token: secret })).status, 401)
  const seeList = `See the list with:\n  ${typed('token')}\n`
  t.strictSame(await token('revoke', id), { code: 1, stdout: '', stderr: `Token not found. ${seeList}` })
  t.strictSame(await token('revoke'), { code: 78, stdout: '', stderr: `token revoke needs the ID of a token. ${seeList}` })
})

t.test('when a token was last used stays known after the server ended', async t => {
  const { server, token } = await startWithToken(t)
  await signUp(t, server)
  const secret = (await token('create', 'ci')).stdout.trim()
  t.equal((await call(server, 'GET', '/v1/sessions', { token: secret })).status, 200)
  await server.close()
  t.match((await token()).stdout, new RegExp(` ci +read +${minute} +never\n$`))
})

t.test('a token is valid for so many days, above none', async t => {
  const { server, token } = await startWithToken(t)
  await signUp(t, server)
  const dayMs = 86_400_000
  const before = Date.now()
  t.equal((await token('create', 'ci', { days: 1.5 })).code, 0)
  const until = new RegExp(`(${minute})\n$`).exec((await token()).stdout)?.[1]
  t.ok(
    [before, Date.now()].some(at => shownTime(at + 1.5 * dayMs) === until),
    `not ${until}`
  )
  for (const days of [0, -1, Number.NaN])
    t.strictSame(await token('create', 'ci', { days }), { code: 78, stdout: '', stderr: '--days must be a number above 0.\n' })
})

t.test('a token needs a name, a scope that exists, and an account', async t => {
  const { server, token } = await startWithToken(t)
  const refused = async (what: string | undefined, options: object = {}) => {
    const { code, stdout, stderr } = await token('create', what, options)
    t.strictSame([code, stdout], [78, ''])
    return stderr
  }
  t.equal(await refused(undefined), `token create needs a name that says what it is for. For example:\n  ${typed('token create ci')}\n`)
  t.match(await refused('ci', { scope: 'read,everything' }), /^--scope must be one or more of read, write, .*, separated by commas\.\n$/)
  t.equal(await refused('ci'), 'There are no accounts yet.\n')
  const ada = await signUp(t, server)
  const grace = await signUp(t, server)
  t.match(await refused('ci'), /^There are 2 accounts; choose one with --account/)
  const { stdout, stderr } = await token('create', 'ci', { account: grace.id })
  t.equal((await call(server, 'GET', '/v1/account/profile', { token: stdout.trim() })).body.id, grace.id)
  const at = (account: string) => token('list', undefined, { account })
  t.equal((await at(ada.id)).stdout, '')
  t.match((await at(grace.id)).stdout, idIn(stderr))
  t.equal((await token('revoke', idIn(stderr), { account: ada.id })).code, 1, 'not of another account')
  t.equal((await token('revoke', idIn(stderr), { account: grace.id })).code, 0)
})
