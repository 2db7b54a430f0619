import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readPairingLink, readRequestLink } from '../../../lib/crypto/index.ts'
import { login } from '../../../lib/wrapper/account/login.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import type { Terminal } from '../../../lib/wrapper/terminal/terminal.ts'
import { writeCertificate } from '../../kit/certificate.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { call } from '../../kit/person.ts'
import { portToKeep, startServer } from '../../kit/server.ts'
import { startPhone } from '../kit/phone.ts'
import { readCode } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

const loginTo = (t: Test, url: string, ...more: string[]) => {
  const home = join(t.testdirName, 'home')
  return { home, login: runWrapper(t, { home, args: ['login', '--server', url, ...more] }) }
}
const silentTerminal: Terminal = {
  isTTY: false,
  columns: Number.POSITIVE_INFINITY,
  rows: 24,
  write() {},
  onResize: () => () => {},
  ask: async () => undefined
}
const kept = (home: string, url: string) => JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'))[url]
const otherThan = (code: string) => String((Number(code) + 1) % 10_000).padStart(4, '0')

t.test('a computer is linked by its check code, and holds a one-day token with a key to renew it [A7]', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const { login, home } = loginTo(t, server.url)
  const { link, checkCode } = await readCode(login)
  await phone.pair(link, checkCode)
  t.equal(await login.ended, 0, login.output)
  const { renewal } = kept(home, server.url)
  t.ok(renewal.expiresAt < Date.now() + 25 * 3600_000)
  t.equal(Buffer.from(renewal.deviceSeed, 'base64').length, 32)
  const demo = runWrapper(t, { home, args: ['demo', 'SCRIPT: text hello'] })
  await (await phone.session()).until(({ messages }) => messages.length > 0)
  await demo.kill('SIGTERM')
})

t.test('requests to the server contain neither the secret of the link nor the digits', async t => {
  const server = await startServer(t)
  const asked: string[] = []
  const relay = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    asked.push(`${request.url} ${body}`)
    const answer = await fetch(server.url + request.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
  t.teardown(() => relay.close())
  // Names and addresses of the server's own machine are its own on any port.
  const { login } = loginTo(t, `http://127.0.0.1:${(relay.address() as AddressInfo).port}`)
  const { link, checkCode } = await readCode(login)
  const secret = link.split('.').at(-1) ?? ''
  t.equal(secret.length, 22)
  t.match(asked[0], /^\/v2\/pairings /)
  t.match(asked[0], /"about":/)
  t.notMatch(asked[0], userInfo().username, 'what it says of itself is sealed')
  t.notOk(asked.some(text => text.includes(secret) || text.includes(`"${checkCode}"`)))
})

t.test('three wrong codes end the request on the computer too [A8]', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const { login, home } = loginTo(t, server.url)
  const { link, checkCode } = await readCode(login)
  await phone.pair(
    link,
    [1, 2, 3].map(() => otherThan(checkCode))
  )
  t.equal(await login.ended, 1)
  t.match(login.output, /it was rejected, or nobody answered in time/)
  t.match(login.output, `login --server ${server.url}\n`, 'the same server, which is not remembered yet')
  t.throws(() => kept(home, server.url))
})

t.test("Happy's app gets its own code, without digits", async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const { login, home } = loginTo(t, server.url, '--happy')
  const [link] = await login.says(/happy:\/\/terminal\S+/)
  await login.says(/Waiting/)
  t.notMatch(login.output, /Check code|#v2=/)
  await phone.pair(link)
  t.equal(await login.ended, 0)
  t.equal(kept(home, server.url).renewal, undefined)
})

t.test('a server that knows only legacy pairing is paired with that way', async t => {
  const server = await startServer(t)
  const happy = createServer(async (request, response) => {
    const isOurs = request.url?.startsWith('/v2/')
    const body = Buffer.concat(await request.toArray())
    const answer = isOurs
      ? new Response('{"error":"Not found"}', { status: 404 })
      : await fetch(server.url + request.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>(resolve => happy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => happy.close())
  const phone = await startPhone(t, server)
  const url = `http://127.0.0.1:${(happy.address() as AddressInfo).port}`
  const { login } = loginTo(t, url)
  const [link] = await login.says(/http\S+\/terminal\/connect#key=\S+/)
  await login.says(/Waiting/)
  t.ok(readPairingLink(link))
  t.equal(readRequestLink(link), undefined)
  await phone.pair(link)
  t.equal(await login.ended, 0, login.output)
})

t.test('a foreign server gets no code, and is reported', async t => {
  const other = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>'))
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const { login } = loginTo(t, `http://127.0.0.1:${(other.address() as AddressInfo).port}`, '--happy')
  await login.says(/The server at \S+ is not an Afield server\. Trying again\./)
  t.notMatch(login.output, /Link this computer|[█▀▄]/)
})

t.test('login waits for an unreachable server, and then shows its code', async t => {
  const first = await startServer(t)
  const port = Number(new URL(first.url).port)
  await first.close()
  const { login } = loginTo(t, first.url)
  await login.says(/Nothing is listening at/)
  await startServer(t, { port, data: first.data })
  const { link } = await readCode(login)
  t.ok(readRequestLink(link))
})

for (const forHappy of [false, true]) {
  t.test(
    `an address at which no server ever answered ends the login after a while, with what to do${forHappy ? ' --happy' : ''}`,
    async t => {
      const server = `http://127.0.0.1:${await portToKeep()}`
      const clock = manualClock()
      let ended: unknown
      void login({ home: openHome({ AFIELD_HOME: t.testdir() }), server, env: {}, terminal: silentTerminal, forHappy, clock }).catch(
        error => {
          ended = error
        }
      )
      while (ended === undefined) {
        clock.advance(1_000)
        await new Promise(resolve => setImmediate(resolve))
      }
      t.match(ended, {
        name: 'CannotStart',
        exitCode: 78,
        message:
          /^\S.+\. Use the address at which you open Afield in the browser:\n {2}.+\nIf the address is right, start the server first\.$/
      })
      t.ok(clock.now() >= 15_000, 'a server that is starting gets time')
    }
  )
}

for (const way of [[], ['--happy']]) {
  t.test(`a server name that does not exist ends the login with what to do ${way}`, async t => {
    const { login } = loginTo(t, 'no-such-server.invalid', ...way)
    t.equal(await login.ended, 78)
    t.match(login.output, /There is no computer called no-such-server\.invalid\./)
    t.match(login.output, /login --server <address>\n/)
  })
}

for (const way of [[], ['--happy']])
  t.test(`while nothing answers, a wrong port and the server of this computer are named ${way}`, async t => {
    const server = await startServer(t)
    const env = { AFIELD_DATA: t.testdirName, AFIELD_PORT: new URL(server.url).port }
    const args = ['login', ...way, '--server', `http://127.0.0.1:${await portToKeep()}`]
    const login = runWrapper(t, { home: join(t.testdirName, 'home'), args, env })
    await login.says(/Nothing is listening at .* The port may be wrong\. The server of this computer is at /)
    t.match(login.output, `${new URL(server.url).port}. Trying again. Ctrl-C ends this.`)
    const unknown = runWrapper(t, { home: join(t.testdirName, 'home'), args: ['login', ...way, '--server', 'no-such-server.invalid'], env })
    t.equal(await unknown.ended, 78)
    t.match(unknown.output, /A server runs on this computer; to use it:\n {2}.* login --server http:\/\/127\.0\.0\.1:\d+\n/)
  })

t.test('the name of a new tunnel gets time to be known', async t => {
  const clock = manualClock()
  const server = 'https://afield-test-of-no-tunnel.trycloudflare.com'
  const home = openHome({ AFIELD_HOME: t.testdir() })
  let ended: unknown
  const said: string[] = []
  const terminal = { ...silentTerminal, write: (text: string) => void said.push(text) }
  const env = { AFIELD_DATA: t.testdirName, AFIELD_PORT: '1' }
  void login({ home, server, env, terminal, forHappy: false, clock }).catch(error => {
    ended = error
  })
  while (ended === undefined) {
    clock.advance(1_000)
    await new Promise(resolve => setImmediate(resolve))
  }
  t.match(ended, { exitCode: 78, message: /If the address is right, start the server first/ })
  t.ok(clock.now() >= 120_000)
})

t.test('an untrusted certificate ends the login with what to do', async t => {
  const files = { tlsKey: join(t.testdir(), 'key.pem'), tlsCert: join(t.testdirName, 'cert.pem') }
  writeCertificate(files)
  const server = await startServer(t, { ...files, data: join(t.testdirName, 'data') })
  const { login } = loginTo(t, server.url)
  t.equal(await login.ended, 78)
  t.match(
    login.output,
    /does not trust the certificate of 127\.0\.0\.1:\d+ \(DEPTH_ZERO_SELF_SIGNED_CERT\)\.\nIf it is your own, set NODE_EXTRA_CA_CERTS/
  )
})

t.test('https to a server without HTTPS ends the login with the address to use', async t => {
  const { url } = await startServer(t)
  const { login } = loginTo(t, url.replace('http:', 'https:'))
  t.equal(await login.ended, 78)
  t.match(login.output, /does not speak HTTPS \(ERR_SSL_WRONG_VERSION_NUMBER\)\.\nIf it is your own server/)
  t.match(login.output, `Use this address:\n  ${url}\n`)
})

t.test('logging out ends a sign-in whose token expired long before', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const { login, home } = loginTo(t, server.url)
  const { link, checkCode } = await readCode(login)
  await phone.pair(link, checkCode)
  await login.ended
  const file = join(home, 'credentials.json')
  const old = JSON.parse(readFileSync(file, 'utf8'))
  old[server.url].token += 'x'
  old[server.url].renewal.expiresAt = 0
  writeFileSync(file, JSON.stringify(old))
  const devices = async () => (await call(server, 'GET', '/v1/devices', { token: phone.token })).body.devices.length
  t.equal(await devices(), 2)
  const logout = runWrapper(t, { home, args: ['logout', '--server', server.url] })
  t.equal(await logout.ended, 0)
  t.equal(await devices(), 1)
})

t.test('a computer that is linked again keeps its identity, and its daemon answers', { timeout: 90_000 }, async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const home = join(t.testdirName, 'home')
  const link = async (...more: string[]) => {
    const { login } = loginTo(t, server.url, ...more)
    const { link, checkCode } = more.length > 0 ? { link: (await login.says(/happy:\S+/))[0], checkCode: undefined } : await readCode(login)
    await phone.pair(link, checkCode)
    t.equal(await login.ended, 0)
  }
  const answers = async () => {
    const helper = runWrapper(t, { home, args: ['daemon', 'run'] })
    await helper.says(/ live\n/)
    const machine = await phone.machine()
    t.ok(await machine.call('choices', {}))
    await helper.kill('SIGTERM')
    return machine.id
  }
  await link()
  const id = await answers()
  const { machineKey } = kept(home, server.url)
  await link()
  t.equal(kept(home, server.url).machineKey, machineKey)
  await link('--happy')
  t.equal(await answers(), id)
  t.equal(await runWrapper(t, { home, args: ['logout', '--server', server.url] }).ended, 0)
  await link()
  t.not(kept(home, server.url).machineKey, machineKey, 'which the end of its link has deleted')
  t.equal(await answers(), id)
})

t.test('Ctrl-C while a code is shown ends the command as a shell expects it', { skip: process.platform === 'win32' }, async t => {
  const server = await startServer(t)
  const { login } = loginTo(t, server.url)
  await readCode(login)
  const before = login.output
  await login.kill('SIGINT')
  t.equal(await login.ended, 130)
  t.equal(login.output, before)
})
