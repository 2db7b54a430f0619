import { call } from '../kit/person.ts'
import type { Shown } from './history.ts'
import { connect, type Desk, type Writer } from './writers.ts'

interface WireMessage {
  seq: number
  localId: string | null
  content: { c: string }
}

/** A client of the account that listens to everything it is told live, until the server is gone. */
export function listener({ token, history }: Pick<Desk, 'token' | 'history'>): Writer {
  return {
    async run(url) {
      const socket = await connect(url, token)
      if (!socket) return
      const lastBySession = new Map<string, number>()
      socket.on('update', ({ body }) => {
        if (body.t !== 'new-message') return
        history.live(body.sid, shown(body.message), lastBySession.get(body.sid))
        lastBySession.set(body.sid, body.message.seq)
      })
      await new Promise(resolve => socket.once('disconnect', resolve))
    }
  }
}

/** A client that follows a session by pages, without pause, and never goes back. */
export function reader({ token, session, history, random }: Desk): Writer {
  let cursor = 0
  return {
    async run(url) {
      for (;;) {
        const page = await readPage({ url, token, session, cursor, limit: random.between(1, 50) })
        if (!page) return
        history.page(session, page.messages, cursor)
        cursor = page.messages.at(-1)?.seq ?? cursor
      }
    }
  }
}

/** Every message of a session, as the server tells it. */
export async function readAll(url: string, { token, session }: Pick<Desk, 'token' | 'session'>): Promise<Shown[]> {
  const all: Shown[] = []
  for (let hasMore = true; hasMore; ) {
    const cursor = all.at(-1)?.seq ?? 0
    const page = await readPage({ url, token, session, cursor, limit: 500 })
    if (!page) throw new Error('The server ended while it was read.')
    all.push(...page.messages)
    hasMore = page.hasMore
  }
  return all
}

async function readPage(ask: { url: string; token: string; session: string; cursor: number; limit: number }) {
  try {
    const { url, token, session, cursor, limit } = ask
    const { status, body } = await call({ url }, 'GET', `/v3/sessions/${session}/messages?after_seq=${cursor}&limit=${limit}`, { token })
    if (status !== 200) return undefined
    return { messages: (body.messages as WireMessage[]).map(shown), hasMore: Boolean(body.hasMore) }
  } catch {
    return undefined
  }
}

function shown({ seq, localId, content }: WireMessage): Shown {
  return { seq, localId, content: content.c }
}
