import type { Target } from './child.ts'
import type { Load } from './compare.ts'
import { openPoster, postText } from './raw-http.ts'
import { openRawSocket } from './raw-socket.ts'

interface LoadShape {
  /** The port for the listeners, if they are not to connect where messages are posted. */
  listenPort?: number | undefined
  posters: number
  listeners: number
  batch: number
  textBytes: number
  /** All posters post together, and again once everything was answered and received; otherwise each posts again once answered. */
  inStep?: boolean
}

/** Its pieces are messages: posted, answered, and arrived at every listener. */
export async function openLoad(target: Target, shape: LoadShape): Promise<Load> {
  const posters = await Promise.all(Array.from({ length: shape.posters }, () => openPoster(target.port)))
  const listeners = await Promise.all(
    Array.from({ length: shape.listeners }, () => openListener({ ...target, port: shape.listenPort ?? target.port }))
  )
  let posted = 0

  return {
    async run(messages) {
      if (shape.inStep) {
        for (let left = messages; left > 0; left -= posters.length * shape.batch)
          await runFreely(Math.min(left, posters.length * shape.batch))
      } else await runFreely(messages)
    },
    async close() {
      for (const one of [...posters, ...listeners]) one.close()
    }
  }

  async function runFreely(messages: number): Promise<void> {
    const arrived = listeners.map(listener => listener.arrived(messages))
    let left = Math.ceil(messages / shape.batch)
    const work = posters.map(async poster => {
      while (left > 0) {
        left -= 1
        posted += 1
        await poster.post(requestText(target, shape, posted))
      }
    })
    await Promise.all([...work, ...arrived])
  }
}

export function requestText(
  { token, session }: Target,
  { batch, textBytes }: Pick<LoadShape, 'batch' | 'textBytes'>,
  number: number
): string {
  const content = 'QUJD'.repeat(textBytes / 4)
  const messages = Array.from({ length: batch }, (_, index) => ({ content, localId: `00000000-0000-4000-8000-${number}-${index}` }))
  return postText(`/v3/sessions/${session}/messages`, JSON.stringify({ messages }), token)
}

async function openListener({ port, token }: Target) {
  let missing = 0
  let reached = () => {}
  let failed: (error: Error) => void = () => {}
  const socket = await openRawSocket({
    port,
    auth: { token, clientType: 'user-scoped' },
    onPacket() {
      missing -= 1
      if (missing === 0) reached()
    }
  })
  socket.closed.then(() => failed(new Error('The server closed the connection of a listener.')))
  return {
    arrived(messages: number): Promise<void> {
      missing += messages
      return new Promise((resolve, reject) => {
        reached = resolve
        failed = reject
      })
    },
    close: socket.close
  }
}
