import { io } from 'socket.io-client'
import t from 'tap'
import { engine } from '../../../../lib/crypto/index.ts'
import { call, signInBody, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'
import { serveSmallApp } from '../../small-app.ts'

const page = '<!doctype html><title>Afield</title>'
serveSmallApp({ 'web/index.html': page })

const asApp = { accept: 'text/plain', origin: 'https://app.happy.engineering' }

t.test("the root tells Happy's app, on any page, that this is a server, and shows browsers the app", async t => {
  const server = await startServer(t)
  for (const path of ['/', '//', '/?x=1']) {
    const answer = await fetch(server.url + path, { headers: asApp })
    t.equal(answer.status, 200, path)
    t.equal(await answer.text(), 'Welcome to Happy Server!')
    t.match(Object.fromEntries(answer.headers), {
      'access-control-allow-origin': '*',
      'content-type': /^text\/plain/,
      vary: 'accept'
    })
  }
  const head = await fetch(`${server.url}/`, { method: 'HEAD', headers: asApp })
  t.match([head.status, head.headers.get('content-length'), await head.text()], [200, '24', ''])
  const browser = await fetch(`${server.url}/`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  t.equal(await browser.text(), page)
  t.equal(browser.headers.get('access-control-allow-origin'), null, 'which no other page reads')
  t.match(browser.headers.get('vary'), /accept,/, 'and no cache takes one for the other')
  t.equal((await fetch(`${server.url}/`, { method: 'POST', headers: asApp })).status, 404)
  t.equal((await fetch(`${server.url}/elsewhere`, { headers: asApp })).status, 404)
})

t.test('an address with a trailing slash is the same server, for requests and sockets', async t => {
  const server = await startServer(t)
  const slashed = { url: `${server.url}/` }
  const { status, body } = await call(slashed, 'POST', '/v1/auth', { body: await signInBody(engine.randomBytes(32)) })
  t.equal(status, 200)
  t.equal((await call(slashed, 'GET', '/v1/sessions', { token: body.token })).status, 200)
  t.equal((await call(slashed, 'GET', '/v1/sessions')).status, 401)
  t.equal((await fetch(`${slashed.url}/health`)).status, 200)
  t.equal((await fetch(`${slashed.url}/v1/sessions`, { method: 'OPTIONS', headers: { origin: 'https://x.example' } })).status, 204)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  t.equal((await call(slashed, 'GET', `/v3/sessions/${session}/messages?limit=1`, { token: ada.token })).status, 200)
  for (const transport of ['websocket', 'polling']) {
    const auth = { token: ada.token, clientType: 'user-scoped' }
    const socket = io(server.url, { path: '//v1/updates', transports: [transport], auth, forceNew: true, reconnection: false })
    t.teardown(() => socket.disconnect())
    const heard = listen(socket)
    await new Promise((resolve, reject) => socket.once('connect', () => resolve(undefined)).once('connect_error', reject))
    await ada.send(session, { localId: transport })
    await heard.settled()
    t.equal(heard.bodies('new-message').length, 1, transport)
  }
})
