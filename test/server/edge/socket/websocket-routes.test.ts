import { get } from 'node:http'
import t from 'tap'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openAccepted, openWebSocket } from '../../raw-websocket.ts'

const server = await startServer(t, { limits: 'default', corsOrigin: 'https://app.example' })

t.test('who asks for another version is told which one there is [N7]', async t => {
  for (const version of ['8', '14', '013', '13, 8', '']) {
    const headers = { 'sec-websocket-version': version, origin: 'https://app.example' }
    const answer = openWebSocket(t, { ...server, headers })
    const lines = ['upgrade: websocket', 'sec-websocket-version: 13', 'access-control-allow-origin: https://app.example']
    for (const line of ['HTTP/1.1 426 Upgrade Required', ...lines, 'Unsupported protocol version']) {
      await t.rejects(answer, { message: new RegExp(line, 'i') }, line)
    }
  }
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

t.test('a stranger whose packet is small, but larger than a sign-in, is told that it is wrong [N6]', async t => {
  const web = await openWebSocket(t, server)
  await web.next()
  web.send(`40${'x'.repeat(60 * 1024)}`)
  t.equal(await web.ended(), 4400)
})

t.test('an event comes with its bytes', async t => {
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  web.send('451-2["rpc-call",{"method":"x","params":{"_placeholder":true,"num":0}}]')
  web.send(Buffer.from('bytes'), 'binary')
  t.equal(await web.next(), '432[{"ok":false,"error":"Invalid parameters: method is required"}]')
})
