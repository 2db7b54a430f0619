import t from 'tap'
import { accountVault, createRest, cryptoReady, type Fetch, signIn } from '../../lib/client/index.ts'
import { engine } from '../../lib/crypto/index.ts'
import { startServer } from '../kit/server.ts'

t.before(() => cryptoReady())

t.test('signing in twice with one secret is the same account, each time over a fresh challenge [A1]', async t => {
  const { url } = await startServer(t)
  const secret = engine.randomBytes(32)
  const challenges: string[] = []
  const watched: Fetch = (to, init) => {
    challenges.push(JSON.parse(init.body ?? '{}').challenge)
    return fetch(to, init)
  }
  const accounts: string[] = []
  for (const deviceName of ['phone', 'laptop']) {
    const { token } = await signIn({ server: url, secret, fetch: watched, deviceName })
    const rest = createRest({ server: url, token, fetch })
    accounts.push((await rest.call('readProfile', {})).id)
  }
  t.equal(accounts[0], accounts[1])
  t.equal(new Set(challenges).size, 2)
})

t.test('a server that wants a setup code says so, and takes it', async t => {
  const { url, setupCode } = await startServer(t, { signup: 'owner' })
  const options = { server: url, secret: engine.randomBytes(32), fetch }
  await t.rejects(signIn(options), { name: 'Refused', status: 403, code: 'setup-code-required' })
  t.match(await signIn({ ...options, setupCode: setupCode?.code }), { token: String })
})

t.test('the vault names the account by the key that signs in', t => {
  const secret = engine.randomBytes(32)
  t.equal(accountVault(secret).publicKey, accountVault(secret).publicKey)
  t.not(accountVault(secret).publicKey, accountVault(engine.randomBytes(32)).publicKey)
  t.end()
})
