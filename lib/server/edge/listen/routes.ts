import type { HttpRequest, HttpResponse, RecognizedString, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js'

/** Where routes are installed. An app of uWebSockets.js is one. */
export type Routes = Pick<TemplatedApp, 'get' | 'head' | 'post' | 'put' | 'del' | 'options' | 'any' | 'ws'>

type Handler = (response: HttpResponse, request: HttpRequest) => void | Promise<void>

/** Wraps handlers, and socket behaviour, on the way to the app. */
interface Change {
  handler(handler: Handler): Handler
  sockets<UserData>(behavior: WebSocketBehavior<UserData>): WebSocketBehavior<UserData>
}

/**
 * The same routes, each also with one more leading slash: existing clients append a path that begins with a
 * slash to an address that ends in one.
 */
export function acceptDoubleSlash(app: Routes): Routes {
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

// Routes that match every path match these too.
function bothForms(pattern: RecognizedString): RecognizedString[] {
  return typeof pattern !== 'string' || pattern === '/*' ? [pattern] : [pattern, `/${pattern}`]
}

/** The path with a single leading slash. */
export function pathOf(request: Pick<HttpRequest, 'getUrl'>): string {
  const url = request.getUrl()
  return url.startsWith('//') ? url.slice(1) : url
}

/** Modifies the routes that are installed on `app`. */
export function changeRoutes(app: Routes, { handler: changed, sockets }: Change): Routes {
  const put = (method: Exclude<keyof Routes, 'ws'>) => (pattern: string, handler: Handler) => {
    app[method](pattern, changed(handler))
    // Callers only use it to install the next route.
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
