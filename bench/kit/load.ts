import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Target } from './child.ts'

export interface Load {
  /** Posts so many messages and resolves once all are answered and all have arrived at the listener. */
  run(messages: number): Promise<void>
  close(): Promise<void>
}

export interface LoadShape {
  connections: number
  batch: number
  textBytes: number
}

/** Raw sockets, so that the side that makes the load costs as little as can be: each posts again when it was answered. */
export async function openLoad(target: Target, shape: LoadShape): Promise<Load> {
  const posters = await Promise.all(Array.from({ length: shape.connections }, () => openPoster(target.port)))
  const listener = await openListener(target)
  let posted = 0

  return {
    async run(messages) {
      const arrived = listener.arrived(listener.count + messages)
      let left = Math.ceil(messages / shape.batch)
      const work = posters.map(async poster => {
        while (left > 0) {
          left -= 1
          posted += 1
          await poster.post(requestText(target, shape, posted))
        }
      })
      await Promise.all([...work, arrived])
    },
    async close() {
      for (const poster of posters) poster.close()
      listener.close()
    }
  }
}

function requestText({ token, session }: Target, { batch, textBytes }: LoadShape, number: number): string {
  const content = 'QUJD'.repeat(textBytes / 4)
  const messages = Array.from({ length: batch }, (_, index) => ({ content, localId: `00000000-0000-4000-8000-${number}-${index}` }))
  const body = JSON.stringify({ messages })
  return `POST /v3/sessions/${session}/messages HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

async function openPoster(port: number) {
  const socket = await opened(port)
  let answered: (() => void) | undefined
  let text = ''
  socket.on('data', chunk => {
    text += chunk
    const end = endOfAnswer(text)
    if (end === undefined) return
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(`The server answered ${text.slice(0, 300)}`)
    text = text.slice(end)
    answered?.()
  })
  return {
    post(request: string) {
      const { promise, resolve } = Promise.withResolvers<void>()
      answered = resolve
      socket.write(request)
      return promise
    },
    close: () => socket.destroy()
  }
}

function endOfAnswer(text: string): number | undefined {
  const bodyAt = text.indexOf('\r\n\r\n') + 4
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
  return bodyAt > 3 && text.length >= bodyAt + length ? bodyAt + length : undefined
}

async function openListener({ port, token }: Target) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/updates/?EIO=4&transport=websocket`)
  let count = 0
  let goal = Number.POSITIVE_INFINITY
  let reached = () => {}
  const { promise: live, resolve } = Promise.withResolvers<void>()
  socket.addEventListener('message', ({ data }) => {
    const text = String(data)
    if (text.startsWith('0')) socket.send(`40${JSON.stringify({ token, clientType: 'user-scoped' })}`)
    else if (text.startsWith('40')) resolve()
    else if (text === '2') socket.send('3')
    else if (text.startsWith('42')) {
      count += 1
      if (count >= goal) reached()
    }
  })
  await live
  return {
    get count() {
      return count
    },
    arrived(total: number): Promise<void> {
      const { promise, resolve: done } = Promise.withResolvers<void>()
      goal = total
      reached = done
      return promise
    },
    close: () => socket.close()
  }
}

async function opened(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
  await once(socket, 'connect')
  return socket
}
