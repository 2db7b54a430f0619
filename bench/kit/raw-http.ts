import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** One keep-alive connection that posts, and posts again once answered. */
interface Poster {
  /** The body of the answer. Rejects for any status but 200, or the expected one. */
  post(request: string, status?: number): Promise<string>
  close(): void
}

/** Raw sockets, so that the load generator costs as little as possible. */
export async function openPoster(port: number): Promise<Poster> {
  const socket = (await openTcp(port)).setEncoding('latin1')
  let answered: ((text: string) => void) | undefined
  let failed: ((error: Error) => void) | undefined
  let text = ''
  socket.on('close', () => failed?.(new Error('The server closed the connection before it answered.')))
  socket.on('data', chunk => {
    text += chunk
    const end = endOfAnswer(text)
    if (end === undefined) return
    const whole = text
    text = text.slice(end)
    answered?.(whole.slice(0, end))
  })
  return {
    async post(request, status = 200) {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      answered = resolve
      failed = reject
      if (socket.closed) reject(new Error('The server closed the connection while it was idle.'))
      else socket.write(request)
      const answer = await promise
      if (!answer.startsWith(`HTTP/1.1 ${status}`)) throw new Error(`The server answered ${answer.slice(0, 300)}`)
      return answer.slice(answer.indexOf('\r\n\r\n') + 4)
    },
    close: () => socket.destroy()
  }
}

/**
 * Posts over the connection that has been idle longest, or waits for one. The server closes a connection
 * idle for ten seconds, so each must get its turn.
 */
export async function openPosters(port: number, connections: number): Promise<Poster> {
  const all = await Promise.all(Array.from({ length: connections }, () => openPoster(port)))
  const free = [...all]
  const waiting: ((poster: Poster) => void)[] = []
  return {
    async post(request, status) {
      const poster = free.shift() ?? (await new Promise<Poster>(resolve => waiting.push(resolve)))
      const answer = await poster.post(request, status)
      const next = waiting.shift()
      if (next) next(poster)
      else free.push(poster)
      return answer
    },
    close() {
      for (const poster of all) poster.close()
    }
  }
}

export function postText(path: string, body: string, token = 'none'): string {
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

export async function openTcp(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  await once(socket, 'connect')
  return socket
}

function endOfAnswer(text: string): number | undefined {
  const bodyAt = text.indexOf('\r\n\r\n') + 4
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
  return bodyAt > 3 && text.length >= bodyAt + length ? bodyAt + length : undefined
}
