import type { HttpRequest, HttpResponse, RecognizedString, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js'

/** Where routes are put. An app of uWebSockets.js is one. */
export type Routes = Pick<TemplatedApp, 'get' | 'head' | 'post' | 'put' | 'del' | 'options' | 'any' | 'ws'>

type Handler = (response: HttpResponse, request: HttpRequest) => void | Promise<void>

/** What becomes of a handler, and of what a socket does, on the way to the app. */
interface Change {
  handler(handler: Handler): Handler
  sockets<UserData>(behavior: WebSocketBehavior<UserData>): WebSocketBehavior<UserData>
}

/**
 * The same routes, each also under its path with one more slash before it: to an address that ends in a slash existing clients append a path
 * that begins with one.
 */
export function putTwice(app: Routes): Routes {
  const put = (method: Exclude<keyof Routes, 'ws'>) => (pattern: string, handler: Handler) => {
    for (const each of bothForms(pattern)) app[method](each, handler)
    return twice as TemplatedApp
  }
  const twice: Routes = {
    get: put('get'),
    head: put('head'),
    post: put('post'),
    put: put('put'),
    del: put('del'),
    options: put('options'),
    any: put('any'),
    ws(pattern, behavior) {
      for (const each of bothForms(pattern)) app.ws(each, behavior)
      return twice as TemplatedApp
    }
  }
  return twice
}

// What matches every path matches these too.
function bothForms(pattern: RecognizedString): RecognizedString[] {
  return typeof pattern !== 'string' || pattern === '/*' ? [pattern] : [pattern, `/${pattern}`]
}

/** The path as the one slash before it would be. */
export function pathOf(request: Pick<HttpRequest, 'getUrl'>): string {
  const url = request.getUrl()
  return url.startsWith('//') ? url.slice(1) : url
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
