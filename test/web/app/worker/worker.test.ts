import t from 'tap'

type Listener = (event: unknown) => void

/** The browser that the worker sees, and what it did with it. */
const listeners = new Map<string, Listener>()
const kept = new Set<string>()
const asked: string[] = []
Object.assign(globalThis, {
  ASSETS: ['/index.html', '/assets/main-ABCDEFGH.js'],
  BUILD: 'b',
  self: {
    location: { origin: 'https://home.example' },
    addEventListener: (name: string, listener: Listener) => listeners.set(name, listener)
  },
  caches: {
    open: async () => ({ addAll: async (requests: Request[]) => requests.forEach(({ url }) => void kept.add(new URL(url).pathname)) }),
    match: async (request: Request | string) => {
      const path = typeof request === 'string' ? request : new URL(request.url).pathname
      return kept.has(path) ? new Response(`kept ${path}`) : undefined
    }
  },
  // A browser resolves addresses against that of the page.
  Request: class extends Request {
    constructor(url: string, init?: RequestInit) {
      super(new URL(url, 'https://home.example'), init)
    }
  },
  fetch: async ({ url }: Request) => {
    asked.push(new URL(url).pathname)
    return new Response('from the server')
  }
})
await import('../../../../web/app/worker/worker.ts')

async function install(): Promise<void> {
  let done: Promise<unknown> | undefined
  listeners.get('install')?.({ waitUntil: (work: Promise<unknown>) => (done = work) })
  await done
}

/** The worker's response; undefined if it leaves the request to the server. */
async function answerTo(path: string, more: { method?: string; mode?: string } = {}): Promise<string | undefined> {
  const request = { url: `https://home.example${path}`, method: 'GET', mode: 'cors', ...more }
  let answer: Promise<Response> | undefined
  listeners.get('fetch')?.({ request, respondWith: (response: Promise<Response>) => (answer = response) })
  return (await answer)?.text()
}

t.test("the service worker caches the app's files and nothing from the server [H9]", async t => {
  await install()
  t.same([...kept], ['/index.html', '/assets/main-ABCDEFGH.js'])
  t.equal(await answerTo('/assets/main-ABCDEFGH.js'), 'kept /assets/main-ABCDEFGH.js')
  t.equal(await answerTo('/session/abc', { mode: 'navigate' }), 'kept /index.html')

  for (const path of ['/v1/sessions', '/v3/sessions/abc/messages', '/v1/updates/?EIO=4', '/health']) {
    t.equal(await answerTo(path), undefined, path)
    t.equal(await answerTo(path, { method: 'POST' }), undefined)
  }
  t.equal(await answerTo('/v1/sessions/abc/attachments/x.enc', { mode: 'navigate' }), 'from the server')
  t.same([...kept].length, 2, 'and nothing was added')
})
