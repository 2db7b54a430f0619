import type { IncomingMessage } from 'node:http'
import { request as askHttps, Agent as HttpsAgent } from 'node:https'
import { networkInterfaces } from 'node:os'

// A namespace import would reference every export, including all of undici.
const { request: askHttp, Agent: HttpAgent } = process.getBuiltinModule('node:http')

interface Init {
  method: string
  headers: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
}

/**
 * The part of `fetch` that requests to the server need. The complete one, of Node.js or undici, uses 8 MB in a process that may run for days, and
 * more time per message. Redirects are not followed, since a socket could not follow them either.
 */
export async function fetch(url: string, { method, headers, body, signal }: Init) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const [ask, agent] = url.startsWith('https:') ? [askHttps, overTls] : [askHttp, plainly]
    const request = ask(url, { method, headers, agent, timeout: silentMs, ...(signal && { signal }) }, resolve)
    request.on('error', reject)
    request.on('timeout', () => request.destroy(new Error('The server does not respond.')))
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
// Servers and proxies close connections idle for longer; a request at that moment would fail.
const waiting = { keepAlive: true, timeout: 4_000 }
const plainly = new HttpAgent(waiting)
const overTls = new HttpsAgent(waiting)

interface NetworkWatch {
  /** The external addresses of this computer. */
  addresses(): readonly string[]
  /** In ms. */
  now(): number
  /** Returns a function that cancels. */
  every(ms: number, look: () => void): () => void
}

const everyMs = 2_000
// A busy computer is late by less than this.
const sleptMs = 10_000

/**
 * Calls `onReturn` when the network is probably back: this computer has a new address, or has slept. The
 * system does not notify programs of either, so this polls. Returns a function that stops it.
 */
export function watchNetwork(onReturn: () => void, { addresses, now, every }: NetworkWatch = ofThisComputer): () => void {
  let known = new Set(addresses())
  let lookedAt = now()
  return every(everyMs, () => {
    const found = addresses()
    const isBack = found.some(address => !known.has(address)) || now() - lookedAt > everyMs + sleptMs
    known = new Set(found)
    lookedAt = now()
    if (isBack) onReturn()
  })
}

const ofThisComputer: NetworkWatch = {
  addresses,
  now: Date.now,
  every(ms, look) {
    const timer = setInterval(look, ms).unref()
    return () => clearInterval(timer)
  }
}

function addresses(): string[] {
  try {
    return Object.values(networkInterfaces()).flatMap(all => all?.filter(({ internal }) => !internal).map(({ address }) => address) ?? [])
  } catch {
    // Some systems, such as Android, do not allow this.
    return []
  }
}
