import type { IncomingMessage } from 'node:http'
import { request as askHttps, Agent as HttpsAgent } from 'node:https'

// To import it gives a name to each of its parts, one of which is the whole of undici.
const { request: askHttp, Agent: HttpAgent } = process.getBuiltinModule('node:http')

interface Init {
  method: string
  headers: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
}

/**
 * As much of `fetch` as asking the server takes. The whole one, of Node.js or of undici, takes 8 MB of a process that may live for days, and
 * more time for each message. Redirects are not followed: a line could not follow them either.
 */
export async function fetch(url: string, { method, headers, body, signal }: Init) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const [ask, agent] = url.startsWith('https:') ? [askHttps, overTls] : [askHttp, plainly]
    const request = ask(url, { method, headers, agent, timeout: silentMs, ...(signal && { signal }) }, resolve)
    request.on('error', reject)
    request.on('timeout', () => request.destroy(new Error('The server says nothing.')))
    request.end(body)
  })
  return {
    status: answer.statusCode ?? 0,
    headers: {
      get(name: string): string | null {
        const value = answer.headers[name.toLowerCase()]
        return value === undefined ? null : String(value)
      }
    },
    body: {
      getReader() {
        const parts: AsyncIterator<Uint8Array, undefined> = answer[Symbol.asyncIterator]()
        const read = async () => {
          const { done = false, value } = await parts.next()
          return { done, value }
        }
        return { read, cancel: async () => void answer.destroy() }
      }
    },
    async text(): Promise<string> {
      answer.setEncoding('utf8')
      let text = ''
      for await (const part of answer) text += part
      return text
    }
  }
}

const silentMs = 300_000
// A server or a proxy closes what is idle for longer; to ask just then would fail.
const waiting = { keepAlive: true, timeout: 4_000 }
const plainly = new HttpAgent(waiting)
const overTls = new HttpsAgent(waiting)
