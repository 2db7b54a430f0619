import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { createRest, type Fetch, signIn } from '../../../lib/client/index.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import { CannotStart } from '../../../lib/exit.ts'
import { agentEnvironment, chooseServer, deviceToken, needCredentials, openHome } from '../../../lib/wrapper/home/credentials.ts'
import { leanEnvironment } from '../../../lib/wrapper/home/own-process.ts'
import { startServer } from '../../kit/server.ts'

const keys = { version: 2 as const, contentPublicKey: new Uint8Array(32).fill(1), machineKey: new Uint8Array(32).fill(2) }

t.test('pairing results are stored per server and read back', async t => {
  const env = { AFIELD_HOME: join(t.testdir(), 'home') }
  const home = openHome(env)
  home.saveCredentials({ server: 'https://one', token: 'a', keys })
  home.saveCredentials({ server: 'https://two', token: 'b', keys: { version: 1, secret: new Uint8Array(32).fill(3) } })
  home.rememberServer('https://two')

  const again = openHome(env)
  t.strictSame(again.credentials('https://one'), { server: 'https://one', token: 'a', keys })
  t.match(again.credentials('https://two'), { token: 'b', keys: { version: 1 } })
  t.equal(again.credentials('https://three'), undefined)
  t.equal(again.machineId, home.machineId, 'the computer keeps its name')
  t.equal(again.server, 'https://two')

  t.strictSame(needCredentials(again, 'https://one'), again.credentials('https://one'))
  t.throws(() => needCredentials(again, 'https://three'), {
    message: /^This computer is not linked to an account on https:\/\/three yet\. /
  })
  t.equal(again.forgetCredentials('https://one'), true)
  t.equal(openHome(env).credentials('https://one'), undefined)
  t.equal(again.forgetCredentials('https://one'), false)
})

t.test('of concurrent logins, renewals and logouts none undoes another', async t => {
  const env = { AFIELD_HOME: join(t.testdir(), 'home') }
  const home = openHome(env)
  const renewal = { deviceSeed: Buffer.alloc(32, 9).toString('base64'), account: 'a', serverKeyId: 'k', expiresAt: 1 }
  const stays = { server: 'https://stays', token: 'a', keys }
  home.saveCredentials({ server: 'https://renewed', token: 'a', renewal, keys })
  const rounds = 40
  const others = Array.from({ length: 2 }, (_, at) => {
    const script = `
      import { openHome } from ${JSON.stringify(resolve('lib/wrapper/home/credentials.ts'))}
      const home = openHome(${JSON.stringify(env)})
      const renewal = ${JSON.stringify(renewal)}
      for (let n = 0; n < ${rounds}; n++) {
        home.noteRenewal('https://renewed', { token: 'b' + n, renewal })
        home.saveCredentials({ server: 'https://other${at}-' + n, token: 'c', keys: { version: 1, secret: new Uint8Array(32) } })
      }`
    return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  })
  const ends = others.map(child => once(child, 'exit'))
  // While they are at it: whoever looks at the folder sees that they have begun.
  while (home.credentials('https://renewed')?.token === 'a') home.rememberServer('https://stays')
  home.forgetCredentials('https://renewed')
  home.saveCredentials(stays)
  t.same(
    (await Promise.all(ends)).map(([code]) => code),
    [0, 0]
  )
  t.equal(home.credentials('https://renewed'), undefined, 'nothing brings back what was logged out')
  t.strictSame(home.credentials('https://stays'), stays)
  const missing = [0, 1]
    .flatMap(at => Array.from({ length: rounds }, (_, n) => `https://other${at}-${n}`))
    .filter(server => !home.credentials(server))
  t.same(missing, [], 'and every login is there')
})

t.test('processes that start first at the same time give the computer one name', async t => {
  const env = { AFIELD_HOME: join(t.testdir(), 'home') }
  const script = `
    import { openHome } from ${JSON.stringify(resolve('lib/wrapper/home/credentials.ts'))}
    process.stdin.once('data', () => { process.stdout.write(openHome(${JSON.stringify(env)}).machineId); process.exit() })
    process.stdout.write('ready ')`
  const first = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  )
  const said = first.map(child => {
    let text = ''
    child.stdout.on('data', chunk => {
      text += chunk
    })
    return once(child, 'close').then(() => text)
  })
  await Promise.all(first.map(child => once(child.stdout, 'data')))
  for (const child of first) child.stdin.write('go\n')
  const names = new Set(await Promise.all(said))
  t.equal(names.size, 1, [...names].join(', '))
})

t.test('only its owner can read any of it, even in a folder that was open to others [W6]', async t => {
  const path = join(t.testdir(), 'home')
  mkdirSync(path, { mode: 0o755 })
  const home = openHome({ AFIELD_HOME: path })
  home.saveCredentials({ server: 'https://one', token: 'a', keys })
  t.equal(statSync(path).mode & 0o777, 0o700)
  t.strictSame(readdirSync(path).sort(), ['credentials.json', 'settings.json'])
  for (const file of readdirSync(path)) t.equal(statSync(join(path, file)).mode & 0o777, 0o600, file)
})

t.test('a folder in which the system allows no file fails at once', { skip: process.platform !== 'linux' }, async t => {
  for (const path of ['/proc/afield', '/proc/self/afield/home']) {
    const env = { ...process.env, AFIELD_HOME: path }
    const { status, stderr } = spawnSync(process.execPath, ['bin/afield.ts', 'sessions'], { env, encoding: 'utf8', timeout: 20_000 })
    t.equal(status, 78, path)
    t.match(stderr, `Afield cannot use its folder ${path}`)
  }
})

t.test('the server comes from the command line, then the environment, then the last login', async t => {
  const home = { server: 'https://remembered' }
  t.equal(chooseServer('https://flag/', { AFIELD_SERVER: 'https://env' }, home), 'https://flag')
  t.equal(chooseServer(undefined, { AFIELD_SERVER: 'http://env:3005' }, home), 'http://env:3005')
  t.equal(chooseServer(undefined, {}, home), 'https://remembered')
  t.equal(chooseServer('home.example', {}, home), 'https://home.example')
  t.throws(() => chooseServer(undefined, {}, { server: undefined }), CannotStart)
  for (const nonsense of ['ftp://a', 'https://a/path', 'https://a?x=1', 'https://', '::']) {
    t.throws(() => chooseServer(nonsense, {}, home), CannotStart, nonsense)
  }
})

t.test("agents get the person's environment without Afield's secrets [W6]", async t => {
  t.strictSame(
    agentEnvironment({
      PATH: '/bin',
      AFIELD_HOME: '/x',
      AFIELD_SERVER: 'y',
      AFIELD_ANYTHING: 'z',
      ANTHROPIC_API_KEY: 'k',
      NOTHING: undefined
    }),
    {
      PATH: '/bin',
      ANTHROPIC_API_KEY: 'k'
    }
  )
})

t.test("settings that reduce our own memory are not passed to an agent, and the person's own are", async t => {
  const ours = { ...leanEnvironment({ PATH: '/bin', MALLOC_ARENA_MAX: '4' }, '/x'), PATH: '/bin', MALLOC_ARENA_MAX: '4' }
  t.match(ours, { NODE_COMPILE_CACHE: join('/x', 'compiled'), MALLOC_ARENA_MAX: '4' })
  t.strictSame(agentEnvironment(ours), { PATH: '/bin', MALLOC_ARENA_MAX: '4' })
})

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
    createRest({ server: server.url, token: deviceToken({ home, credentials: credentials(), fetch: within }), fetch: within })
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

t.test('a computer that was off for a week reconnects with its device key, and keeps the new token private [W6]', async t => {
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

t.test('a token renewed by one process serves the others', async t => {
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

t.test('a renewal neither restores an ended link nor overwrites a new one', async t => {
  const { server, home, use, credentials, sleep } = await computer(t)
  sleep()
  const old = use()
  const before = credentials()
  home.forgetCredentials(server.url)
  await old.call('listSessions', {})
  t.equal(home.credentials(server.url), undefined)

  const renewal = { deviceSeed: Buffer.alloc(32, 9).toString('base64'), account: 'other', serverKeyId: '', expiresAt: Date.now() + weekMs }
  home.saveCredentials({ server: server.url, token: 'of another', renewal, keys: before.keys })
  const late = createRest({ server: server.url, token: deviceToken({ home, credentials: before, fetch }), fetch })
  await late.call('listSessions', {})
  t.equal(credentials().token, 'of another')
})

t.test('an unwritable folder does not end the link', async t => {
  const { home, credentials, sleep, server } = await computer(t)
  sleep()
  const stuck = {
    credentials: home.credentials,
    noteRenewal() {
      throw new Error('no space left on device')
    }
  }
  const token = deviceToken({ home: stuck, credentials: credentials(), fetch })
  await createRest({ server: server.url, token, fetch }).call('listSessions', {})
  t.pass('the request went through')
})

const apart = ['--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs -o ro none "$0" && AFIELD_HOME="$0/a/b" exec "$@"']
const canMount = () => spawnSync('unshare', [...apart, tmpdir(), 'true']).status === 0

t.test('a folder on a read-only disk is named as that', { skip: !canMount() && 'no disk can be mounted here' }, async t => {
  const { status, stderr } = spawnSync('unshare', [...apart, t.testdir(), process.execPath, 'bin/afield.ts', 'sessions'], {
    encoding: 'utf8'
  })
  t.match(stderr, /^Afield cannot use its folder \S+: it is on a disk that is mounted read-only\.\n$/)
  t.equal(status, 78)
})
