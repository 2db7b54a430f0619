import type { IncomingMessage } from 'node:http'
import { request as askHttps, Agent as HttpsAgent } from 'node:https'
import { networkInterfaces } from 'node:os'

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
// A server or a proxy closes what is idle for longer; to ask just then would fail.
const waiting = { keepAlive: true, timeout: 4_000 }
const plainly = new HttpAgent(waiting)
const overTls = new HttpsAgent(waiting)

interface NetworkWatch {
  /** Those of this computer towards others. */
  addresses(): readonly string[]
  /** In ms. */
  now(): number
  /** Returns how to stop. */
  every(ms: number, look: () => void): () => void
}

const everyMs = 2_000
// A busy computer is late by less.
const sleptMs = 10_000

/**
 * Calls `onReturn` when the way to others is likely back: this computer has an address that it had not, or has slept. Nothing of the
 * system says so to a program, so it looks now and then. Returns how to stop.
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
    // Some systems, such as Android, tell no program.
    return []
  }
}
