import t from 'tap'
import { createRest, cryptoReady, type Fetch, signIn } from '../../../lib/client/index.ts'
import { engine } from '../../../lib/crypto/index.ts'
import { startServer } from '../../kit/server.ts'

t.before(() => cryptoReady())

t.test('signing in twice with one secret gives the same account, each time with a new nonce [A1]', async t => {
  const { url } = await startServer(t)
  const secret = engine.randomBytes(32)
  const nonces: string[] = []
  const watched: Fetch = (to, init) => {
    if (init.body !== undefined) nonces.push(JSON.parse(init.body).nonce)
    return fetch(to, init)
  }
  const accounts: string[] = []
  for (const deviceName of ['phone', 'laptop']) {
    const { token } = await signIn({ server: url, secret, fetch: watched, deviceName })
    const rest = createRest({ server: url, token, fetch })
    accounts.push((await rest.call('readProfile', {})).id)
  }
  t.equal(accounts[0], accounts[1])
  t.equal(nonces.length, 2)
  t.equal(new Set(nonces).size, 2)
})

t.test('a server that requires a setup code says so, and accepts it', async t => {
  const { url, setupCode } = await startServer(t, { signup: 'owner' })
  const options = { server: url, secret: engine.randomBytes(32), fetch }
  await t.rejects(signIn(options), { name: 'Refused', status: 403, code: 'setup-code-required' })
  t.match(await signIn({ ...options, setupCode: setupCode?.code }), { token: String })
})

t.test('a server that knows only legacy sign-in is signed in to that way', async t => {
  const { url } = await startServer(t)
  const asked: string[] = []
  const like = (status: number, body: string): Fetch => {
    return (to, init) => {
      asked.push(new URL(to).pathname)
      return new URL(to).pathname.startsWith('/v2/') ? Promise.resolve(new Response(body, { status })) : fetch(to, init)
    }
  }
  for (const old of [like(404, '{"error":"Not found"}'), like(404, '<html>'), like(200, '<html>')]) {
    const signedIn = await signIn({ server: url, secret: engine.randomBytes(32), fetch: old })
    t.match(signedIn.token, /^afield1-account/)
    t.equal(signedIn.renewal, undefined)
  }
  t.ok(asked.includes('/v1/auth'))
  const away = like(503, '')
  asked.length = 0
  await t.rejects(signIn({ server: url, secret: engine.randomBytes(32), fetch: away }), {
    name: 'Unreachable',
    message: 'The server is failing.'
  })
  t.notOk(asked.includes('/v1/auth'), 'a server in trouble is not taken for an old one')
})
