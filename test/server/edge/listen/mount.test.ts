import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js'
import t from 'tap'
import { mountOn } from '../../../../lib/server/edge/listen/mount.ts'
import type { Routes } from '../../../../lib/server/edge/listen/routes.ts'

t.test('after its end nothing of the server is run for sockets of an app that outlives it', t => {
  let installed: WebSocketBehavior<unknown> = {}
  // What mounting calls of an app, and nothing else.
  const app = {
    ws(_: string, behavior: WebSocketBehavior<unknown>) {
      installed = behavior
    }
  } as unknown as Routes
  const { routes, remove } = mountOn(app)
  const run: string[] = []
  const note = (name: string) => () => void run.push(name)
  const names = ['upgrade', 'open', 'message', 'ping', 'drain', 'close'] as const
  const handlers = Object.fromEntries(names.map(name => [name, note(name)]))
  routes.ws('/*', { ...handlers, maxPayloadLength: 7 })
  t.equal(installed.maxPayloadLength, 7)

  const answered: unknown[] = []
  const response = {
    writeStatus(status: string) {
      answered.push(status)
      return this
    },
    writeHeader(...header: string[]) {
      answered.push(header)
      return this
    },
    end: (...end: unknown[]) => answered.push(end)
  } as unknown as HttpResponse
  const ws = {} as WebSocket<unknown>
  const callAll = () => {
    installed.upgrade?.(response, {} as HttpRequest, {} as us_socket_context_t)
    installed.open?.(ws)
    installed.message?.(ws, new ArrayBuffer(0), false)
    installed.ping?.(ws, new ArrayBuffer(0))
    installed.drain?.(ws)
    installed.close?.(ws, 1000, new ArrayBuffer(0))
  }
  callAll()
  t.same(run.splice(0), names)
  t.same(answered, [])
  remove()
  callAll()
  t.same(run, [])
  t.same(answered, ['503 Service Unavailable', ['retry-after', '5'], [undefined, true]])
  t.end()
})
