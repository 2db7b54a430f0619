import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CannotStart } from '../../lib/exit.ts'
import { agentEnvironment, chooseServer, openHome } from '../../lib/wrapper/credentials.ts'

const keys = { version: 2 as const, contentPublicKey: new Uint8Array(32).fill(1), machineKey: new Uint8Array(32).fill(2) }

t.test('what pairing gave comes back, for each server its own', async t => {
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

  t.equal(again.forgetCredentials('https://one'), true)
  t.equal(openHome(env).credentials('https://one'), undefined)
  t.equal(again.forgetCredentials('https://one'), false)
})

t.test('only its owner can read any of it, also in a folder that was open to others [W6]', async t => {
  const path = join(t.testdir(), 'home')
  mkdirSync(path, { mode: 0o755 })
  const home = openHome({ AFIELD_HOME: path })
  home.saveCredentials({ server: 'https://one', token: 'a', keys })
  t.equal(statSync(path).mode & 0o777, 0o700)
  t.strictSame(readdirSync(path).sort(), ['credentials.json', 'settings.json'])
  for (const file of readdirSync(path)) t.equal(statSync(join(path, file)).mode & 0o777, 0o600, file)
})

t.test('a folder where the system lets nobody make one is refused at once', { skip: process.platform !== 'linux' }, async t => {
  for (const path of ['/proc/afield', '/proc/self/afield/home']) {
    const env = { ...process.env, AFIELD_HOME: path }
    const { status, stderr } = spawnSync(process.execPath, ['bin/afield.ts', 'sessions'], { env, encoding: 'utf8', timeout: 20_000 })
    t.equal(status, 78, path)
    t.match(stderr, `Afield cannot use its folder ${path}`)
  }
})

t.test('the server is that of the command line, then of the environment, then of the last login', async t => {
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

t.test('agents get the environment of the person without what is for Afield [W6]', async t => {
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
