import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { loadUws } from '../../../lib/server/edge/listen/uws.ts'
import { io } from '../../../web/core/socket-io.ts'

t.test('what the protocol asks for by itself is answered, and what is no packet ends the line', async t => {
  const cases = [
    { said: '2', heard: ['40{"token":"x"}', '3'], ended: [] },
    { said: '6', heard: ['40{"token":"x"}'], ended: [] },
    { said: '41', heard: ['40{"token":"x"}'], ended: ['io server disconnect'] },
    { said: '1', heard: ['40{"token":"x"}'], ended: ['transport close'] },
    ...['42{"half', '451-["picture",{"_placeholder":true,"num":0}]', '42/other,["update"]', '9', ''].map(said => ({
      said,
      heard: ['40{"token":"x"}'],
      ended: ['parse error']
    }))
  ]
  for (const { said, heard, ended } of cases) {
    const seen = await meet(t, said)
    t.same(seen, { heard: [...heard, ...(ended.length > 0 ? [] : ['42["last",1]', '41'])], ended }, `"${said}"`)
  }
})

/** What a server hears that lets a client in and then says this, and how the client says it ended. */
async function meet(t: { teardown(run: () => void): void }, said: string): Promise<{ heard: string[]; ended: unknown[] }> {
  const heard: string[] = []
  const ended: unknown[] = []
  const { promise: isOver, resolve: over } = Promise.withResolvers<void>()
  const app = loadUws()
    .App()
    .ws('/*', {
      open: ws => void ws.send('0{"sid":"engine","upgrades":[],"pingInterval":15000,"pingTimeout":45000}'),
      message(ws, bytes) {
        const packet = Buffer.from(bytes).toString()
        heard.push(packet)
        if (packet.startsWith('40')) for (const each of ['40{"sid":"line"}', said, '42["after",{}]']) ws.send(each)
      },
      close: () => over()
    })
  const { promise: port, resolve: listens } = Promise.withResolvers<number>()
  app.listen('127.0.0.1', 0, socket => {
    if (socket) listens(loadUws().us_socket_local_port(socket))
  })
  t.teardown(() => app.close())

  const line = io(`http://127.0.0.1:${await port}`, { path: '/v1/updates', auth: give => give({ token: 'x' }) })
  line.on('disconnect', reason => ended.push(reason))
  line.on('after', () => {
    line.emit('last', 1)
    line.off()
    line.disconnect()
  })
  await isOver
  return { heard, ended }
}

// What the app's own client of Socket.IO has to do is what that of the package does: the same tests, over the same server.
registerHooks({
  resolve(specifier, context, next) {
    const isClients = context.parentURL?.endsWith('/lib/client/socket.ts')
    return next(isClients && specifier === 'socket.io-client' ? pathToFileURL('web/core/socket-io.ts').href : specifier, context)
  }
})

await import('../../client/link/socket.test.ts')
await import('../../client/calls/calls.test.ts')
await import('../../client/cuts.test.ts')
await import('../../client/journey.test.ts')
