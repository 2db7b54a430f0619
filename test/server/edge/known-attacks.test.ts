import { once } from 'node:events'
import t from 'tap'
import { call, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { openTcp } from '../raw-http.ts'
import { ask } from '../raw-polling.ts'
import { openAccepted } from '../raw-websocket.ts'

// What ended processes of others: CVE-2022-21676 and -41940, CVE-2023-31125 and -32695, CVE-2024-38355.

t.test('a transport named after a property of every object is unknown, like any other name [N5]', async t => {
  const server = await startServer(t)
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'websocket,polling', '']) {
    const { status, text } = await ask(server, `/v1/updates/?EIO=4&transport=${encodeURIComponent(name)}`)
    t.match({ status, text }, { status: 400, text: /Transport unknown/ }, name)
  }
})

t.test('a client that resets its connection during the upgrade affects nothing else [N5]', async t => {
  const server = await startServer(t)
  for (let round = 0; round < 20; round += 1) {
    const tcp = await openTcp(t, server)
    tcp.write(
      'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n'
    )
    if (round % 2 === 1) await once(tcp, 'data')
    tcp.resetAndDestroy()
  }
  t.equal((await call(server, 'GET', '/health')).status, 200)
})

const packets: Record<string, string> = {
  'an event named by an object': '42[{"toString":"x"},1]',
  'an event named by a list': '42[["message"],1]',
  'an event without a name': '42[]',
  'an acknowledgement wanted under a number beyond all safe ones': '429007199254740993["ping"]',
  'an acknowledgement of a number beyond all safe ones': '439007199254740993[1]',
  'an attachment taken from a method of lists': '451-["message",{"_placeholder":true,"num":"splice"}]',
  'a name that Socket.IO itself emits': '42["disconnecting"]'
}

for (const [name, packet] of Object.entries(packets)) {
  t.test(`${name} ends its connection and no other [N6]`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const other = await ada.connect()
    const web = await openAccepted(t, server, { token: ada.token })
    web.send(packet)
    t.equal(await web.ended(), 4400)
    t.same(await other.emitWithAck('ping'), {})
  })
}

t.test('an event named error is unknown [N6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  web.send('42["error",{"message":"x"}]')
  web.send('421["ping"]')
  t.equal(await web.next(), '431[{}]')
})
