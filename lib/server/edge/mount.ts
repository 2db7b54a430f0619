import type { HttpRequest, HttpResponse, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js'

/** Where routes are put. An app of uWebSockets.js is one. */
export type Routes = Pick<TemplatedApp, 'get' | 'head' | 'post' | 'put' | 'del' | 'options' | 'any' | 'ws'>

type Handler = (response: HttpResponse, request: HttpRequest) => void | Promise<void>

/**
 * Routes on an app that outlives the server. uWebSockets.js cannot take a route off again: after `remove` each
 * answers 503, and nothing of the server is held by it.
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

  const put = (method: 'get' | 'head' | 'post' | 'put' | 'del' | 'options' | 'any') => (pattern: string, handler: Handler) => {
    app[method](pattern, held(handler, answerGone))
    return routes as TemplatedApp
  }
  const routes: Routes = {
    get: put('get'),
    head: put('head'),
    post: put('post'),
    put: put('put'),
    del: put('del'),
    options: put('options'),
    any: put('any'),
    ws<UserData>(pattern: string, { upgrade, open, message, drain, close, ...settings }: WebSocketBehavior<UserData>) {
      app.ws<UserData>(pattern, {
        ...settings,
        upgrade: held(upgrade, answerGone),
        open: held(open, nothing),
        message: held(message, nothing),
        drain: held(drain, nothing),
        close: held(close, nothing)
      })
      return routes as TemplatedApp
    }
  }
  return { routes, remove: () => forget.forEach(drop => void drop()) }
}

function answerGone(response: HttpResponse): void {
  response.writeStatus('503 Service Unavailable').writeHeader('retry-after', '5').end(undefined, true)
}

function nothing(): void {}
