import type { HttpResponse } from 'uWebSockets.js'
import { changeRoutes, type Routes } from './routes.ts'

/**
 * Routes on an app that outlives the server. uWebSockets.js cannot remove a route: after `remove` each
 * answers 503, and holds nothing of the server.
 */
export function mountOn(app: Routes): { routes: Routes; remove(): void } {
  const forget: (() => void)[] = []

  function held<Given extends unknown[]>(run: ((...given: Given) => void) | undefined, without: (...given: Given) => void) {
    let current = run
    forget.push(() => {
      current = undefined
    })
    return (...given: Given) => (current ? current(...given) : without(...given))
  }

  const routes = changeRoutes(app, {
    handler: handler => held(handler, answerGone),
    sockets: ({ upgrade, open, message, ping, drain, close, ...settings }) => ({
      ...settings,
      upgrade: held(upgrade, answerGone),
      open: held(open, nothing),
      message: held(message, nothing),
      ping: held(ping, nothing),
      drain: held(drain, nothing),
      close: held(close, nothing)
    })
  })
  return { routes, remove: () => forget.forEach(drop => void drop()) }
}

function answerGone(response: HttpResponse): void {
  response.writeStatus('503 Service Unavailable').writeHeader('retry-after', '5').end(undefined, true)
}

function nothing(): void {}
