import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { environment, type Peer } from './peer.ts'

const token = 'a-token-of-this-bench'

/** Its hub, and its wrapper around the agent that it starts as `kimi acp`; the phone is its documented API. */
export function hapi(packages: string): Peer {
  const program = join(packages, '@twsxtd/hapi-linux-x64/bin/hapi')
  return {
    name: 'HAPI',
    installed: join(packages, '@twsxtd/hapi-linux-x64'),
    healthPath: '/health',
    serve: ({ port, data }) => ({
      words: [program, 'hub', '--no-relay'],
      env: { HAPI_HOME: data, HAPI_LISTEN_PORT: String(port), CLI_API_TOKEN: token }
    }),
    async converse({ t, url, wrapperUrl, folder }) {
      const env = environment(folder, {
        HAPI_HOME: join(folder, 'hapi'),
        HAPI_API_URL: wrapperUrl,
        CLI_API_TOKEN: token,
        PATH: `${folder}:${process.env['PATH']}`
      })
      const wrapper = spawn(program, ['kimi', '--hapi-starting-mode', 'remote', '--started-by', 'runner', '--yolo'], {
        cwd: folder,
        env,
        stdio: 'ignore'
      })
      t.teardown(() => wrapper.kill('SIGKILL'))
      const signedIn = await ask(`${url}/api/auth`, { accessToken: token })
      const call = (path: string, body?: object) => ask(`${url}/api${path}`, body, signedIn.token)
      const session = await first(async () => (await call('/sessions')).sessions?.find(({ active }) => active))
      return {
        wrapper: wrapper.pid ?? 0,
        say: async text => void (await call(`/sessions/${session.id}/messages`, { text })),
        async read() {
          const pages: unknown[] = []
          let query = '?limit=200'
          for (;;) {
            const { messages = [], page } = await call(`/sessions/${session.id}/messages${query}`)
            pages.push(messages)
            if (!page?.hasMore) return JSON.stringify(pages)
            query = `?limit=200&beforeAt=${page.nextBeforeAt}&beforeSeq=${page.nextBeforeSeq}`
          }
        },
        // Its page has two streams while a session is open, and asks for compressed ones as any browser does.
        async watch(t, url) {
          const headers = { authorization: `Bearer ${signedIn.token}`, 'accept-encoding': 'gzip, deflate, br, zstd' }
          for (const what of ['all=true', `sessionId=${session.id}`]) {
            const watching = request(`${url}/api/events?visibility=visible&${what}`, { headers }).end()
            t.teardown(() => watching.destroy())
            const [response] = await once(watching, 'response')
            response.resume()
          }
        }
      }
    }
  }
}

interface Answer {
  token?: string
  sessions?: { id: string; active: boolean }[]
  messages?: unknown[]
  page?: { hasMore: boolean; nextBeforeAt: number; nextBeforeSeq: number }
}

async function ask(url: string, body?: object, token?: string): Promise<Answer> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) })
  })
  if (!response.ok) throw new Error(`HAPI answered ${url} with ${response.status}: ${await response.text()}`)
  return response.json() as Promise<Answer>
}

async function first<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await pause(50)
  }
}
