import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { engine, readBackupKey } from '../../../lib/crypto/index.ts'
import { mostAttachmentBytes } from '../../../lib/protocol/wire/routes/attachments.ts'
import { type Device, openDevices } from '../../kit/browser.ts'
import { lacks } from '../../kit/needs.ts'
import { type Person, signInBody, signUp } from '../../kit/person.ts'
import { portToKeep } from '../../kit/port.ts'
import { type ProxyName, startReverseProxy } from '../../kit/reverse-proxy.ts'
import { startServerProcess } from '../../kit/server.ts'
import { openTestHome, readCode } from '../../wrapper/kit/world.ts'
import { runWrapper } from '../../wrapper/kit/wrapper.ts'

/** The whole path from a new account to a restarted server, through a real proxy configured by its recipe. */
export function proxyJourney(t: Test, name: ProxyName, protocol: 'h2' | 'h3' = 'h2'): void {
  t.test(
    `everything works in a browser and for a wrapper behind ${name}, as docs/proxies.md configures it`,
    { skip: lacks(name) },
    async t => {
      const port = await portToKeep()
      const serverPort = await portToKeep()
      const proxy = await startReverseProxy(t, name, { serverPort, port })
      const data = join(t.testdir(), 'data')
      // Not `loopback`: the clients of this test have other addresses of it.
      const args = ['--public-url', proxy.url, '--trust-proxy', '127.0.0.1']
      const start = () => startServerProcess(t, { data, port: serverPort, signup: 'approve', limits: 'default', args })
      const server = await start()
      const devices = await openDevices(t, { trustedKey: proxy.keyHash, ...(protocol === 'h3' && { http3At: `localhost:${port}` }) })
      const phone = await devices.open(t, proxy.url)
      const { page } = phone

      // From other sites under the same domain; the server takes 4 KiB of headers.
      await phone.context.addCookies(['a', 'b'].map(name => ({ name, value: 'c'.repeat(3000), url: proxy.url })))

      const setupCode = readFileSync(join(data, 'setup-code'), 'utf8').trim()
      const liveLine = page.waitForEvent('websocket')
      const key = readBackupKey(await phone.createAccount({ setupCode }))
      if (!key.ok) throw new Error('The page shows no account key')
      await phone.see('Live')
      t.match((await liveLine).url(), `wss://localhost:${port}/`)
      t.same(await protocolsOf(page), [protocol])

      const plain = await fetch(`${proxy.plainUrl}/s/x`, { redirect: 'manual' })
      t.match([plain.status, plain.headers.get('location')], [/^30[18]$/, /^https:\/\/localhost\S*\/s\/x$/])

      const env = { NODE_EXTRA_CA_CERTS: proxy.authority }
      const home = openTestHome(t)
      const login = runWrapper(t, { home, env, args: ['login', '--server', proxy.url] })
      const { link, checkCode } = await readCode(login)
      t.ok(link.startsWith(proxy.url))
      await phone.linkTerminal(link, checkCode)
      t.equal(await login.ended, 0, 'a computer is linked')

      runWrapper(t, { home, env, args: ['demo'] })
      await phone.visit('/')
      await page.locator('a[href^="/s/"]').click()
      await page.waitForURL('**/s/*')
      const session = page.url()
      await say(phone, 'SCRIPT: tool write {"path":"a.txt","content":"pears"} ;; slow 6000 one two three four five six ;; text The end.')
      await page.getByRole('button', { name: /^Allow once/ }).waitFor()
      await page.getByRole('button', { name: /^Allow once/ }).click({ delay: 600 })
      await phone.see('Allowed once by you')
      await page.locator('.say', { hasText: /^one two/ }).waitFor()
      t.equal(await page.getByText('The end.', { exact: true }).count(), 0, 'text is shown as it grows, so nothing buffers it')
      await phone.see(/^The end\.$/)

      await attachInParts(t, phone)
      const owner = await signUp(t, server, key.secret)
      await transferWhole(t, page, owner)
      await pollLong(t, page, owner)
      await addressesAreReal(t, phone, { port, ca: readFileSync(proxy.authority) })

      await phone.visit(session)
      await server.kill()
      await phone.see('The server is not responding')
      await start()
      await phone.seeNoMore('The server is not responding')
      await say(phone, 'SCRIPT: text Back again.')
      await phone.see(/^Back again\.$/)
    }
  )
}

async function say({ page }: Device, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /message/i }).fill(text)
  await page.getByRole('button', { name: /^(Send|Queue)/ }).click()
}

/** What the page and all its files came with; empty for those that its worker served. */
async function protocolsOf(page: Page): Promise<string[]> {
  const all = await page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(
      entry => (entry as PerformanceResourceTiming).nextHopProtocol
    )
  )
  return [...new Set(all)].filter(name => name !== '')
}

/** As the app sends it, and to the wrapper in one answer. */
async function attachInParts(t: Test, phone: Device): Promise<void> {
  const buffer = randomBytes(2 * 1024 * 1024)
  const files = phone.page.locator('input[type=file]').last()
  await files.setInputFiles([{ name: 'large.bin', mimeType: 'application/octet-stream', buffer }])
  await say(phone, 'SCRIPT: text Thank you.')
  const answer = phone.page.locator('.say', { hasText: /large\.bin/ })
  const [path = ''] = /\/\S+large\.bin/.exec(await answer.innerText()) ?? []
  t.ok(buffer.equals(readFileSync(path)), 'the agent has the whole file')
}

/** The largest attachment in one request, as existing clients send it. */
async function transferWhole(t: Test, page: Page, owner: Person): Promise<void> {
  const at = `/v1/sessions/${await owner.openSession()}/attachments`
  const seen = await page.evaluate(
    async ({ at, token, size }) => {
      const headers = { authorization: `Bearer ${token}` }
      const asked = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ size }) }
      const { uploadUrl: place } = await (await fetch(`${at}/request-upload`, asked)).json()
      const sent = new Uint8Array(size).map((_, index) => index % 251)
      const stored = await fetch(place, { method: 'PUT', headers: { ...headers, 'content-type': 'application/octet-stream' }, body: sent })
      const whole = new Uint8Array(await (await fetch(place, { headers })).arrayBuffer())
      const range = await fetch(place, { headers: { ...headers, range: 'bytes=502-505' } })
      return {
        place: new URL(place).origin,
        stored: stored.status,
        isSame: whole.length === size && whole.every((byte, index) => byte === sent[index]),
        range: [range.status, range.headers.get('content-range'), ...new Uint8Array(await range.arrayBuffer())]
      }
    },
    { at, token: owner.token, size: mostAttachmentBytes }
  )
  t.strictSame(seen, {
    // Existing clients send their token nowhere else.
    place: new URL(page.url()).origin,
    stored: 200,
    isSame: true,
    range: [206, `bytes 502-505/${mostAttachmentBytes}`, 0, 1, 2, 3]
  })
}

/** The library of existing clients, where WebSocket is blocked. */
async function pollLong(t: Test, page: Page, owner: Person): Promise<void> {
  const library = readFileSync(join(import.meta.dirname, '../../../node_modules/socket.io-client/dist/socket.io.min.js'), 'utf8')
  await page.evaluate(`(function () { ${library} }).call(window)`)
  const connected = await page.evaluate(async token => {
    const socket = Reflect.get(window, 'io')('/', {
      path: '/v1/updates',
      transports: ['polling'],
      auth: { token, clientType: 'user-scoped' }
    })
    Reflect.set(window, 'polled', socket)
    const isNew = ({ body }: { body: { t: string } }) => body.t === 'new-session'
    Reflect.set(window, 'started', new Promise(resolve => socket.on('update', (update: never) => isNew(update) && resolve(update))))
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject))
    return socket.io.engine.transport.name
  }, owner.token)
  t.equal(connected, 'polling')
  const session = await owner.openSession()
  const update = await page.evaluate(() => Reflect.get(window, 'started'))
  t.match(update, { body: { t: 'new-session', id: session } })
  t.same(await page.evaluate(() => Reflect.get(window, 'polled').emitWithAck('ping')), {})
  await page.evaluate(() => Reflect.get(window, 'polled').disconnect())
}

/** Whoever asks for an account is shown to the owner with the address that the server has seen. */
async function addressesAreReal(t: Test, owner: Device, { port, ca }: { port: number; ca: Buffer }): Promise<void> {
  const forged = '203.0.113.9'
  const ask = async (localAddress: string, headers: Record<string, string> = {}) => {
    const body = JSON.stringify(await signInBody(engine.randomBytes(32)))
    const options = { ca, port, host: '127.0.0.1', servername: 'localhost', localAddress, agent: false }
    return post({ ...options, path: '/v1/auth', headers: { host: `localhost:${port}`, ...headers } }, body)
  }
  t.match(await ask('127.0.0.2'), { error: 'pending' })
  t.match(await ask('127.0.0.3', { 'x-forwarded-for': forged, forwarded: `for=${forged}`, 'x-real-ip': forged }), { error: 'pending' })
  await owner.visit('/settings/people')
  await owner.see(/from 127\.0\.0\.2$/i)
  await owner.see(/from 127\.0\.0\.3$/i)
  t.notMatch(await owner.page.locator('main').innerText(), forged, 'what a client says of its own address is not believed')
}

function post(options: RequestOptions, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { ...options.headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    request({ ...options, method: 'POST', headers }, answer => resolve(json(answer)))
      .on('error', reject)
      .end(body)
  })
}
