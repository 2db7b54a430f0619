import { setTimeout as pause } from 'node:timers/promises'
import { createRest, cryptoReady, type LiveSocket, newId, openSocket, type Rest, signIn, Unreachable } from '../../lib/client/index.ts'
import { engine } from '../../lib/crypto/index.ts'
import { seededRandom } from '../crash/random.ts'
import { startServerProcess } from '../kit/server.ts'

export interface StormOptions {
  data: string
  clients: number
  accounts: number
  /** Decides how long each client waits. */
  seed: number
}

export interface Storm {
  complaints: string[]
  messages: number
  /** From the moment the server listens again until each client was live, in milliseconds. */
  backAfterMs: number[]
}

/**
 * Kills a server that many clients are connected to while messages come, and starts it anew. Nothing may be answered with a
 * status of 500 or more, the clients must not come at once, and each ends with every message.
 */
export async function runStorm({ data, clients: count, accounts: accountCount, seed }: StormOptions): Promise<Storm> {
  await cryptoReady()
  const numbers = seededRandom(seed)
  const random = () => numbers.between(0, 999_999) / 1_000_000
  const closers: (() => unknown)[] = []
  const t = { teardown: (close: () => unknown) => void closers.push(close) }
  const server = await startServerProcess(t, { data, signup: 'open' })
  const accounts = await Promise.all(Array.from({ length: accountCount }, () => openAccount(server.url)))
  const clients = await openInWaves(count, index => openClient(server.url, accountAt(accounts, index), random))
  const writing = keepWriting(accounts)

  await server.kill()
  await Promise.all(clients.map(client => client.down))
  const next = await startServerProcess(t, { data, signup: 'open', port: Number(new URL(server.url).port) })
  const listeningAt = performance.now()
  if (next.url !== server.url) throw new Error('The server did not come back where it was.')
  await Promise.all(clients.map(client => client.back()))
  const written = await writing.stop()
  const lost = await Promise.all(clients.map(client => client.missing()))

  for (const client of clients) client.socket.close()
  for (const close of closers) await close()
  return {
    messages: written.length,
    backAfterMs: clients.map(client => client.backAt - listeningAt),
    complaints: [
      ...accounts.flatMap(({ errors }) => errors),
      ...lost.flatMap(seqs => seqs.map(seq => `A client never saw message ${seq} of its session.`)),
      ...crowding(clients.map(client => client.firstWaitMs))
    ]
  }
}

/** Clients that lost one server together must not all have chosen the same time to come back. */
export function crowding(waits: readonly number[]): string[] {
  const most = Math.max(...waits)
  const tenths = waits.map(ms => Math.min(9, Math.floor((10 * ms) / most)))
  const fullest = Math.max(...Array.from({ length: 10 }, (_, tenth) => tenths.filter(one => one === tenth).length))
  return fullest > waits.length / 3 ? [`${fullest} of ${waits.length} clients would come back within the same tenth of the time.`] : []
}

interface Account {
  token: string
  session: string
  rest: Rest
  errors: string[]
}

async function openAccount(server: string): Promise<Account> {
  const { token } = await signIn({ server, secret: engine.randomBytes(32), fetch })
  const errors: string[] = []
  const watched: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    if (response.status >= 500) errors.push(`A request was answered with ${response.status}.`)
    return response
  }
  const rest = createRest({ server, token, fetch: watched })
  const { session } = await rest.call('openSession', { body: { tag: 'storm', metadata: '' } })
  return { token, session: session.id, rest, errors }
}

function accountAt(accounts: readonly Account[], index: number): Account {
  const account = accounts[index % accounts.length]
  if (!account) throw new Error('A storm needs an account.')
  return account
}

/** A client as ours are: it reads what it missed after each time it came back. */
async function openClient(server: string, { token, session, rest }: Account, random: () => number) {
  const seen = new Set<number>()
  const socket: LiveSocket = openSocket({ server, token, scope: { as: 'app' }, random, WebSocket })
  socket.onUpdate(({ body }) => {
    if (body.t === 'new-message') seen.add(body.message.seq)
  })
  const live = () => stateOf(socket, 'live')
  const { promise: down, resolve: onDown } = Promise.withResolvers<void>()
  const client = { socket, down, firstWaitMs: 0, backAt: 0, back, missing }
  await live()
  const unlisten = socket.onState(state => {
    if (state.type !== 'down') return
    client.firstWaitMs = state.nextTryAt - Date.now()
    unlisten()
    onDown()
  })
  return client

  async function back() {
    await live()
    client.backAt = performance.now()
    await catchUp()
  }

  async function catchUp() {
    for (let after = 0, more = true; more; ) {
      const page = await patiently(() => rest.call('readMessages', { params: { id: session }, query: { after_seq: after, limit: 500 } }))
      for (const { seq } of page.messages) seen.add(seq)
      after = page.messages.at(-1)?.seq ?? after
      more = page.hasMore
    }
  }

  /** What others have and this one has not, when all is quiet. */
  async function missing(): Promise<number[]> {
    const { messages } = await patiently(() => rest.call('readLatestMessages', { params: { id: session } }))
    const last = messages[0]?.seq ?? 0
    // The frames of the last messages may still be on their way.
    if (!seen.has(last) && last > 0) await socket.request('ping', {})
    return Array.from({ length: last }, (_, index) => index + 1).filter(seq => !seen.has(seq))
  }
}

async function openInWaves<Made>(count: number, open: (index: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = []
  while (made.length < count) {
    const wave = Array.from({ length: Math.min(100, count - made.length) }, (_, index) => open(made.length + index))
    made.push(...(await Promise.all(wave)))
  }
  return made
}

function stateOf(socket: LiveSocket, type: 'live'): Promise<void> {
  if (socket.state.type === type) return Promise.resolve()
  return new Promise(resolve => {
    const unlisten = socket.onState(state => {
      if (state.type !== type) return
      unlisten()
      resolve()
    })
  })
}

/** One message after another into each session, each sent until it is acknowledged. */
function keepWriting(accounts: readonly Account[]) {
  const written: number[] = []
  let isOver = false
  const write = async ({ rest, session }: Account) => {
    while (!isOver) {
      const messages = [{ localId: newId(), content: 'c3Rvcm0=' }]
      const reply = await patiently(() => rest.call('appendMessages', { params: { id: session }, body: { messages } }))
      written.push(...reply.messages.map(({ seq }) => seq))
      await pause(500)
    }
  }
  const running = Promise.all(accounts.map(write))
  return {
    async stop(): Promise<number[]> {
      isOver = true
      await running
      return written
    }
  }
}

// While the server is away nobody answers; that is what is tried again.
async function patiently<Reply>(ask: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      await pause(100)
    }
  }
}
