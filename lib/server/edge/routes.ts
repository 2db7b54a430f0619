import type { HttpRequest, HttpResponse, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js'

/** Where routes are put. An app of uWebSockets.js is one. */
export type Routes = Pick<TemplatedApp, 'get' | 'head' | 'post' | 'put' | 'del' | 'options' | 'any' | 'ws'>

type Handler = (response: HttpResponse, request: HttpRequest) => void | Promise<void>

/** What becomes of a handler, and of what a socket does, on the way to the app. */
interface Change {
  handler(handler: Handler): Handler
  sockets<UserData>(behavior: WebSocketBehavior<UserData>): WebSocketBehavior<UserData>
}

/** Routes that are put on `app` changed. */
export function changeRoutes(app: Routes, { handler: changed, sockets }: Change): Routes {
  const put = (method: Exclude<keyof Routes, 'ws'>) => (pattern: string, handler: Handler) => {
    app[method](pattern, changed(handler))
    // Nobody asks more of it than to put the next route.
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
    ws(pattern, behavior) {
      app.ws(pattern, sockets(behavior))
      return routes as TemplatedApp
    }
  }
  return routes
}
