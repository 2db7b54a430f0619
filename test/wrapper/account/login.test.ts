import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../lib/async/clock.ts'
import { createRest } from '../../../lib/client/link/rest.ts'
import { accountVault, type TerminalKeys } from '../../../lib/client/sealed/vault.ts'
import { lookAtRequest } from '../../../lib/client/sign-in/linking.ts'
import { cryptoReady, engine, fromBase64, readPairingLink, readRequestLink, sealAnswerV1, toBase64 } from '../../../lib/crypto/index.ts'
import { linkFirst, login } from '../../../lib/wrapper/account/login.ts'
import { type Home, openHome } from '../../../lib/wrapper/home/credentials.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import type { Terminal } from '../../../lib/wrapper/terminal/terminal.ts'
import { writeCertificate } from '../../kit/certificate.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { call, type Untyped } from '../../kit/person.ts'
import { portToKeep } from '../../kit/port.ts'
import { startServer } from '../../kit/server.ts'
import { asking } from '../kit/asking.ts'
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

/** A login in this process, and what it shows. Its waits end at once, unless a clock is given. */
function loginHere(t: Test, given: Partial<Parameters<typeof login>[0]> & { server: string | undefined; answers?: string[] }) {
  const home = given.home ?? openHome({ AFIELD_HOME: join(t.testdirName, 'home') })
  const { terminal, shown } = asking(given.answers ?? [])
  const bell = new EventTarget()
  const write = (text: string) => {
    terminal.write(text)
    bell.dispatchEvent(new Event('news'))
  }
  const options = { home, env: noServerHere(t), forHappy: false, clock: eagerClock, ...given }
  const ended = login({ ...options, terminal: { ...terminal, isTTY: false, columns: Number.POSITIVE_INFINITY, write } })
  ended.catch(() => {})
  const says = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(shown())
      if (match) return match
      await once(bell, 'news')
    }
  }
  return { home, ended, shown, says }
}
const noServerHere = (t: Test) => ({ AFIELD_DATA: join(t.testdirName, 'no-data'), AFIELD_PORT: '1' })
const eagerClock: Clock = {
  ...systemClock,
  after(_, run) {
    const turn = setImmediate(run)
    return () => clearImmediate(turn)
  }
}

/** The address of a server with these answers. */
async function answering(t: Test, answer: (path: string, asked: Untyped) => [status: number, body: object]) {
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const [status, body] = answer(request.url ?? '', text === '' ? undefined : JSON.parse(text))
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a login shows the link and what it waits for, and then what can be run', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const { home, ended, shown, says } = loginHere(t, { server: server.url })
  const { link, checkCode } = await readCode({ says })
  await phone.pair(link, checkCode)
  t.equal(await ended, 0)
  const [before = '', after = ''] = shown().split(/\n(?=Check code)/)
  t.match(before, /^Asking the server …\n\n {2}Link this computer to your account on /)
  const width = typed('run -- <command>').length
  t.equal(
    after,
    [
      `Check code ${checkCode}  The app asks for it. Waiting up to five minutes.`,
      `This computer is linked to your account on ${server.url}`,
      '',
      `  ${typed('claude').padEnd(width)}  Claude Code`,
      `  ${typed('run -- <command>')}  any other agent that speaks ACP`,
      `  ${typed('demo').padEnd(width)}  a scripted agent, to try everything`,
      ''
    ].join('\n')
  )
  t.equal(home.server, server.url, 'the server of the next commands')
  t.match(home.credentials(server.url), { token: String, renewal: { deviceSeed: String }, keys: { version: 2 } })
  t.equal((await phone.machine()).id, home.machineId, 'the app shows it at once')
})

t.test('the phone sees the system and the user of the computer that asks', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const { ended, says } = loginHere(t, { server: server.url })
  const { link } = await readCode({ says })
  const request = readRequestLink(link)
  if (!request) throw new Error('no link was shown')
  const rest = createRest({ server: server.url, token: phone.token, fetch })
  const view = await lookAtRequest({ rest, vault: accountVault(phone.secret), link: request })
  if (view.type !== 'waiting') throw new Error('it does not wait')
  t.equal(view.name, hostname())
  const name =
    /^PRETTY_NAME="?([^"\n]+)/m.exec(existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '')?.[1] ?? 'Linux'
  const isRoot = process.getuid?.() === 0
  t.strictSame(view.about, {
    os: process.platform === 'linux' ? name : view.about?.os,
    user: userInfo().username,
    ...(isRoot && { isRoot })
  })
  await view.approval.reject()
  await t.rejects(ended, {
    exitCode: 1,
    message: `This code is no longer valid: it was rejected, or nobody answered in time. Get a new one with:\n  ${typed(`login --server ${server.url}`)}`
  })
})

t.test('the key of this computer stays while it is linked to the same account, and no longer', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const home = openHome({ AFIELD_HOME: join(t.testdirName, 'home') })
  const machineKey = new Uint8Array(32).fill(7)
  const { contentPublicKey } = accountVault(phone.secret)
  const keysAfter = async (keys: TerminalKeys, forHappy = false) => {
    home.saveCredentials({ server: server.url, token: 'old', keys })
    const { ended, says } = loginHere(t, { home, server: server.url, forHappy })
    if (forHappy) await phone.pair((await says(/happy:\S+/))[0])
    else {
      const { link, checkCode } = await readCode({ says })
      await phone.pair(link, checkCode)
    }
    await ended
    const kept = home.credentials(server.url)?.keys
    if (kept?.version !== 2) throw new Error('it has no key of its own')
    return kept
  }
  t.strictSame(await keysAfter({ version: 2, contentPublicKey, machineKey }), { version: 2, contentPublicKey, machineKey })
  t.strictSame(await keysAfter({ version: 2, contentPublicKey, machineKey }, true), { version: 2, contentPublicKey, machineKey })
  t.notSame((await keysAfter({ version: 2, contentPublicKey: machineKey, machineKey })).machineKey, machineKey, 'of another account')
  t.strictSame((await keysAfter({ version: 1, secret: machineKey })).contentPublicKey, contentPublicKey)
})

t.test('what a server says to the request decides how the login goes on', async t => {
  t.testdir()
  const endAt = async (answer: Parameters<typeof answering>[1], forHappy = false) => {
    const server = await answering(t, answer)
    return { server, error: await loginHere(t, { server, forHappy }).ended.catch(error => error) }
  }
  const refused = await endAt(() => [403, { error: 'Nobody \u001b[1mnew\u001b[0m is let in.' }])
  t.match(refused.error, { name: 'CannotStart', message: `${refused.server} refused: Nobody new is let in.` })
  const over = await endAt(() => [410, { error: 'gone' }], true)
  t.match(over.error, { exitCode: 1, message: /^This code is no longer valid/ })
  t.match(over.error.message, `${typed(`login --server ${over.server} --happy`)}`)
  const toAnother = await endAt(() => [200, { state: 'authorized', token: 'x', response: 'AAAA' }], true)
  const { server } = toAnother
  t.match(toAnother.error, {
    exitCode: 1,
    message: `The answer cannot be decrypted: it was meant for another computer. Get a new code with:\n  ${typed(`login --server ${server} --happy`)}`
  })
  const old = await endAt(path => (path.startsWith('/v2/') ? [404, { error: 'Not found' }] : [410, { error: 'gone' }]))
  t.match(old.error.message, /^This code is no longer valid/, 'one that knows only legacy pairing is asked in that way')
})

t.test('a login waits until the server answers, and says why and what to look at', async t => {
  let status = 503
  const server = await answering(t, () => [status, status === 200 ? { state: 'requested' } : { error: 'no' }])
  const { host } = new URL(server)
  t.testdir()
  const { ended, shown, says } = loginHere(t, { server, forHappy: true })
  await says(/Trying again/)
  t.match(shown(), `The server at ${host} is failing (HTTP 503). Trying again. Ctrl-C ends this.\n`)
  t.notMatch(shown(), /happy:/, 'no code yet')
  status = 200
  await says(/Waiting for your approval\. The code is valid for five minutes\.\n/)
  t.match(shown(), /happy:/)
  status = 503
  await says(/Waiting for your approval[\s\S]*Trying again/)
  status = 200
  await says(/Waiting for your approval[\s\S]*Waiting for your approval/)
  status = 410
  await t.rejects(ended)
})

t.test('while nothing answers, a wrong port and the server of this computer are named', async t => {
  const { url, data } = await startServer(t)
  const closed = await answering(t, () => [500, {}])
  const server = `http://127.0.0.1:${await portToKeep()}`
  const why = `Nothing is listening at ${new URL(server).host} (ECONNREFUSED).`
  const env = { AFIELD_DATA: data, AFIELD_PORT: '1' }
  const clock = manualClock()
  const settled = openHome({ AFIELD_HOME: join(t.testdirName, 'settled') })
  settled.rememberServer(server)
  const lookFrom = async (given: Partial<Parameters<typeof login>[0]>) => {
    const { says, shown } = loginHere(t, { server, clock, ...given })
    await says(/Trying again/)
    return shown().split('\n')[1]
  }
  const [asUsual, asHappy, alone, known, failing, withoutPort] = await Promise.all([
    lookFrom({ env }),
    lookFrom({ env, forHappy: true }),
    lookFrom({}),
    lookFrom({ home: settled }),
    lookFrom({ server: closed }),
    lookFrom({ server: 'http://127.0.0.2' })
  ])
  const end = 'Trying again. Ctrl-C ends this.'
  t.equal(asUsual, `${why} The port may be wrong. The server of this computer is at ${url}. ${end}`)
  t.equal(asHappy, asUsual)
  t.equal(alone, `${why} The port may be wrong. ${end}`)
  t.equal(known, `${why} ${end}`)
  t.equal(failing, `The server at ${new URL(closed).host} is failing (HTTP 500). ${end}`)
  t.equal(withoutPort, `Nothing is listening at 127.0.0.2 (ECONNREFUSED). Did you mean http://127.0.0.2:3005? ${end}`)
})

t.test('an app that gives the whole account links the computer, even if the server cannot list it now', async t => {
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const server = await answering(t, (path, asked) => {
    if (path !== '/v1/auth/request') return [500, { error: 'no' }]
    const response = toBase64(sealAnswerV1(secret, fromBase64(asked.publicKey) ?? secret))
    return [200, { state: 'authorized', token: 'given', response }]
  })
  const home = openHome({ AFIELD_HOME: t.testdir() })
  home.saveCredentials({ server, token: 'old', keys: { version: 2, contentPublicKey: secret, machineKey: secret } })
  t.equal(await loginHere(t, { home, server, forHappy: true }).ended, 0)
  t.strictSame(home.credentials(server), { server, token: 'given', keys: { version: 1, secret } })
})

for (const isKnown of [true, false])
  t.test(`a server that ${isKnown ? 'worked before may be missing for long' : 'never answered is given up'}`, async t => {
    const server = `http://127.0.0.1:${await portToKeep()}`
    const home = openHome({ AFIELD_HOME: t.testdir() })
    const servers = isKnown ? [server, 'http://no-such-server.invalid'] : [server]
    const clock = manualClock()
    let end: unknown
    for (const server of servers) {
      if (isKnown) home.saveCredentials({ server, token: 'a', keys: { version: 1, secret: new Uint8Array(32) } })
      loginHere(t, { home, server, clock }).ended.catch(error => {
        end = error
      })
    }
    while (end === undefined && clock.now() < 300_000) {
      clock.advance(1_000)
      await new Promise(resolve => setImmediate(resolve))
    }
    t.equal(end !== undefined, !isKnown)
    if (isKnown) return
    t.ok(clock.now() >= 15_000)
    t.ok(clock.now() < 120_000)
    const advice = `Use the address at which you open Afield in the browser:\n  ${typed('login --server <address>')}`
    t.match(end, {
      exitCode: 78,
      message: `Nothing is listening at ${new URL(server).host} (ECONNREFUSED). ${advice}\nIf the address is right, start the server first.`
    })
  })

t.test('a name without a computer, and an address without HTTPS, end the login with what to do', async t => {
  const { url, data } = await startServer(t)
  const server = 'https://no-such-server.invalid'
  const again = (address: string) => typed(`login --server ${address}`)
  const missing = 'There is no computer called no-such-server.invalid. '
  const elsewhere = '\nIf the name is right, check the network of this computer.'
  await t.rejects(loginHere(t, { server }).ended, {
    exitCode: 78,
    message: `${missing}Use the address at which you open Afield in the browser:\n  ${again('<address>')}${elsewhere}`
  })
  await t.rejects(loginHere(t, { server, env: { AFIELD_DATA: data, AFIELD_PORT: '1' } }).ended, {
    message: `${missing}A server runs on this computer; to use it:\n  ${again(url)}${elsewhere}`
  })
  const { host } = new URL(url)
  await t.rejects(loginHere(t, { server: `https://${host}` }).ended, {
    exitCode: 78,
    message: `The server at ${host} does not speak HTTPS (ERR_SSL_WRONG_VERSION_NUMBER).\nIf it is your own server, it was started without HTTPS. Use this address:\n  ${url}`
  })
})

t.test('the server is the named one, or that of this computer, or asked of a person', async t => {
  const { url, data } = await startServer(t)
  const away = noServerHere(t)
  const named = 'https://named.example'
  const chosen = async (env: Record<string, string>, answers: (string | undefined)[], prepare?: (home: Home) => void, server?: string) => {
    const home = openHome({ AFIELD_HOME: mkdtempSync(join(t.testdirName, 'home-')) })
    for (const at of [url, named]) home.saveCredentials({ server: at, token: 'a', keys: { version: 1, secret: new Uint8Array(32) } })
    prepare?.(home)
    const { terminal, shown } = asking(answers)
    const found = await linkFirst({ home, server, env, terminal }).catch(error => error)
    return { server: found.server ?? found.message, shown: shown() }
  }
  const here = { AFIELD_DATA: data, AFIELD_PORT: '1' }
  t.strictSame(await chosen(here, [], undefined, named), { server: named, shown: '' })
  t.strictSame(await chosen({ ...here, AFIELD_SERVER: named }, []), { server: named, shown: '' })
  t.strictSame(await chosen(here, [], home => home.rememberServer(named)), { server: named, shown: '' })
  t.strictSame(await chosen(here, []), { server: url, shown: '' })
  const question = 'Which server? Type the address at which you open Afield, such as https://home.example\n> '
  const wrong = 'ftp://x is not a server address, such as https://home.example or\nhttp://192.168.1.5:3005\n'
  t.strictSame(await chosen(away, [' ', 'ftp://x', ' named.example ']), {
    server: named,
    shown: `${question}${question}${wrong}${question}`
  })
  const usual = { ...away, AFIELD_PORT: new URL(url).port }
  const offered = `Which server? Type the address at which you open Afield, or press Enter for ${url}, which runs on this computer\n> `
  t.strictSame(await chosen(usual, [' ']), { server: url, shown: offered })
  const unknown = 'No server is known yet. Give the address at which you open Afield:\n  '
  t.equal((await chosen(away, [])).server, `${unknown}${typed('login --server <address>')}`)
  t.equal((await chosen(usual, [])).server, `${unknown}${typed(`login --server ${url}`)}`)
})

t.test('an unlinked computer is linked before a run only where somebody reads the output', async t => {
  const server = await startServer(t)
  const phone = await startPhone(t, server)
  const home = openHome({ AFIELD_HOME: join(t.testdirName, 'home') })
  const { terminal, shown } = asking([])
  const given = { home, server: server.url, env: noServerHere(t), clock: eagerClock }
  const unread = linkFirst({ ...given, terminal: { ...terminal, isTTY: false } })
  await t.rejects(unread, { message: /is not linked to an account on .* yet\. Run:/ })
  t.equal(shown(), '')
  const codeShown = Promise.withResolvers<void>()
  const write = (text: string) => {
    terminal.write(text)
    if (/Check code \d{4}/.test(shown())) codeShown.resolve()
  }
  const linked = linkFirst({ ...given, terminal: { ...terminal, write } })
  await codeShown.promise
  await phone.pair(/http\S+\/terminal\/connect#v2=\S+/.exec(shown())?.[0] ?? '', /Check code (\d{4})/.exec(shown())?.[1])
  t.match(await linked, { server: server.url, token: String })
  t.strictSame(home.credentials(server.url), await linked)
})

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
