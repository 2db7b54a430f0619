import { get } from 'node:http'
import t from 'tap'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openAcceptedPolling } from '../../raw-polling.ts'
import { openAccepted, openWebSocket } from '../../raw-websocket.ts'

const server = await startServer(t, { limits: 'default', corsOrigin: 'https://app.example' })
const ada = await signUp(t, server)
/** Where nobody was before, so that nothing large is taken from there. */
let networks = 1
const stranger = () => ({ ...server, from: `127.0.${++networks}.1` })

t.test('who asks for another version is told which one there is [N7]', async t => {
  for (const version of ['8', '']) {
    const headers = { 'sec-websocket-version': version, origin: 'https://app.example' }
    const answer = openWebSocket(t, { ...server, headers })
    const lines = ['upgrade: websocket', 'sec-websocket-version: 13', 'access-control-allow-origin: https://app.example']
    for (const line of ['HTTP/1.1 426 Upgrade Required', ...lines, 'Unsupported protocol version']) {
      await t.rejects(answer, { message: new RegExp(line, 'i') }, line)
    }
  }
})

t.test('a handshake that Engine.IO does not know is rejected in its words', async t => {
  const table: [query: string, message: string][] = [
    ['EIO=3&transport=websocket', 'Unsupported protocol version'],
    ['EIO=4&transport=pigeon', 'Transport unknown'],
    ['EIO=4&transport=websocket&sid=unknown', 'Session ID unknown'],
    ['EIO=4&transport=polling', 'Bad request']
  ]
  for (const [query, message] of table) {
    await t.rejects(openWebSocket(t, server, query), { message: new RegExp(`400 Bad Request[^]*${message}`) }, query)
  }
})

t.test('a page of another site gets no connection where sites are limited', async t => {
  const headers = { origin: 'https://other.example' }
  await t.rejects(openWebSocket(t, { ...server, headers }), { message: /403 Forbidden.*"code":4,"message":"Forbidden"/s })
})

t.test('an upgrade elsewhere finds no WebSocket', async t => {
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'x' }
  for (const path of ['/v1/elsewhere', '/elsewhere', '/v1/sessions']) {
    const status = await new Promise(resolve => {
      get(`${server.url}${path}`, { headers, agent: false }, answer => {
        answer.resume()
        resolve(answer.statusCode)
      }).once('upgrade', () => resolve('upgraded'))
    })
    t.equal(status, path === '/v1/sessions' ? 401 : 404, path)
  }
})

t.test('a stranger who sends more than a sign-in needs is cut off [N2]', async t => {
  const web = await openWebSocket(t, stranger())
  await web.next()
  web.send(`40${'x'.repeat(65 * 1024)}`)
  t.equal(await web.ended(), undefined)
  const known = await openWebSocket(t, server)
  await known.next()
  known.send(`40${'x'.repeat(65 * 1024)}`)
  t.equal(await known.ended(), undefined, 'nor on a connection that will take more')
  const little = await openWebSocket(t, server)
  await little.next()
  little.send(`40${'x'.repeat(60 * 1024)}`)
  t.equal(await little.ended(), 4400, 'less is answered')
})

t.test('texts and bytes reach who signed in, however large', async t => {
  const session = await ada.openSession()
  const web = await openAccepted(t, server, { token: ada.token })
  web.send(`421["message",${JSON.stringify({ sid: session, message: 'x'.repeat(300_000) })}]`)
  t.equal(await web.next(), '431[null]')
  web.send('451-2["rpc-call",{"method":"x","params":{"_placeholder":true,"num":0}}]')
  web.send(Buffer.from('bytes'), 'binary')
  t.equal(await web.next(), '432[{"ok":false,"error":"Invalid parameters: method is required"}]')
})

t.test('an upgrade from polling continues the connection that is there', async t => {
  const session = await ada.openSession()
  for (const way of [server, stranger()]) {
    const polling = await openAcceptedPolling(way, { token: ada.token })
    const web = await polling.openWebSocket(t)
    web.send('2probe')
    t.equal(await web.next(), '3probe')
    web.send('5')
    web.send('427["ping"]')
    t.equal(await web.next(), '437[{}]')
    web.send(`428["message",${JSON.stringify({ sid: session, message: 'x'.repeat(60_000) })}]`)
    t.equal(await web.next(), '438[null]')
  }
})

t.test('a machine whose connection breaks is shown as away at once', async t => {
  const app = await ada.connect()
  await ada.call('POST', '/v1/machines', { body: { id: 'm', metadata: 'x' } })
  const web = await openAccepted(t, server, { token: ada.token, clientType: 'machine-scoped', machineId: 'm' })
  const left = new Promise(resolve => app.on('ephemeral', ({ active }) => active === false && resolve(true)))
  web.hangUp()
  t.ok(await left)
})
