import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createRest, type Fetch, signIn } from '../../../lib/client/index.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { keptToken } from '../../../lib/wrapper/home/kept-token.ts'
import { startServer } from '../../kit/server.ts'

const weekMs = 7 * 24 * 3600_000

/** A computer that holds a token and a key to renew it with. */
async function computer(t: Test) {
  const server = await startServer(t)
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const signedIn = await signIn({ server: server.url, secret, fetch })
  const keys = { version: 2 as const, contentPublicKey: accountVault(secret).contentPublicKey, machineKey: new Uint8Array(32) }
  const path = join(t.testdirName, 'home')
  const home = openHome({ AFIELD_HOME: path })
  home.saveCredentials({ server: server.url, ...signedIn, keys })
  const credentials = () => {
    const kept = home.credentials(server.url)
    if (!kept) throw new Error('nothing is kept')
    return kept
  }
  const use = (within: Fetch = fetch) =>
    createRest({ server: server.url, token: keptToken({ home, credentials: credentials(), fetch: within }), fetch: within })
  /** As if the computer had been off: what it keeps ended long ago. */
  const sleep = () => {
    const file = join(path, 'credentials.json')
    const all = JSON.parse(readFileSync(file, 'utf8'))
    all[server.url].token = `${all[server.url].token}x`
    all[server.url].renewal.expiresAt -= weekMs
    writeFileSync(file, JSON.stringify(all))
  }
  return { server, home, path, signedIn, credentials, use, sleep }
}

t.test('a computer that was off for a week comes back with the key of its device, and keeps the new token to itself [W6]', async t => {
  const { path, signedIn, credentials, use, sleep } = await computer(t)
  sleep()
  await use().call('listSessions', {})
  const kept = credentials()
  t.notMatch(kept.token, signedIn.token, 'another token is kept')
  t.equal(kept.renewal?.deviceSeed, signedIn.renewal?.deviceSeed, 'of the same device')
  t.ok((kept.renewal?.expiresAt ?? 0) > Date.now())
  t.same(readdirSync(path).sort(), ['credentials.json', 'settings.json'])
  t.equal(statSync(join(path, 'credentials.json')).mode & 0o777, 0o600)
})

t.test('what one process renewed serves the others', async t => {
  const { use, sleep } = await computer(t)
  sleep()
  let renewals = 0
  const counting: Fetch = (url, init) => {
    if (url.endsWith('/v2/auth')) renewals++
    return fetch(url, init)
  }
  const [first, second] = [use(counting), use(counting)]
  await first.call('listSessions', {})
  await second.call('listSessions', {})
  t.equal(renewals, 1)
})

t.test('nothing that was renewed brings back a link that was ended, or goes over a new one', async t => {
  const { server, home, use, credentials, sleep } = await computer(t)
  sleep()
  const old = use()
  const before = credentials()
  home.forgetCredentials(server.url)
  await old.call('listSessions', {})
  t.equal(home.credentials(server.url), undefined)

  const renewal = { deviceSeed: Buffer.alloc(32, 9).toString('base64'), account: 'other', serverKeyId: '', expiresAt: Date.now() + weekMs }
  home.saveCredentials({ server: server.url, token: 'of another', renewal, keys: before.keys })
  const late = createRest({ server: server.url, token: keptToken({ home, credentials: before, fetch }), fetch })
  await late.call('listSessions', {})
  t.equal(credentials().token, 'of another')
})

t.test('a folder that cannot be written costs no link', async t => {
  const { home, credentials, sleep, server } = await computer(t)
  sleep()
  const stuck = {
    credentials: home.credentials,
    noteRenewal() {
      throw new Error('no space left on device')
    }
  }
  const token = keptToken({ home: stuck, credentials: credentials(), fetch })
  await createRest({ server: server.url, token, fetch }).call('listSessions', {})
  t.pass('the request went through')
})
