import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { limits } from '../../lib/server/limits.ts'
import { type Balanced, lacksBalancer, startBalanced, type Which } from '../kit/balancer.ts'
import { signUp, type Untyped } from '../kit/person.ts'
import type { ServerProcess } from '../kit/server.ts'

const asks = Array.from({ length: 12 }, (_, nth) => `ask-${nth}`)
const answers = asks.map(answerTo)

const ends: Record<string, (instance: ServerProcess, t: Test) => Promise<unknown>> = {
  killed: instance => instance.kill(),
  drained: async ({ child }, t) => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    t.same(await ended, [0, null])
  }
}

for (const [how, end] of Object.entries(ends))
  t.test(
    `behind nginx, clients of an instance that is ${how} go on at the other, and nothing is lost or doubled [M1] [R3]`,
    { skip: lacksBalancer },
    async t => {
      const server = await startBalanced(t, t.testdir({ one: {}, two: {} }))
      const { token } = await signUp(t, server.instances.one)
      const ask = (path: string, more = {}) => server.ask(path, { from: '127.0.0.1', token, ...more })
      const { body } = await ask('/v1/sessions', { method: 'POST', body: { tag: 'a', metadata: 'bWV0YQ==' } })
      const account = { server, token, session: body.session.id }
      const phone = await openClient(t, account, 'one', 'websocket')
      const older = await openClient(t, account, 'one', 'polling')
      const wrapper = await openClient(t, account, 'two', 'websocket')
      wrapper.onMessage(id => asks.includes(id) && wrapper.send(answerTo(id)))

      for (const id of asks.slice(0, 5)) await phone.send(id)
      await Promise.all([phone.has('answer-4'), older.has('answer-4')])
      // One is on its way, and others follow.
      const during = phone.send('ask-5')
      await end(server.instances.one, t)
      await during
      for (const id of asks.slice(6)) await phone.send(id)
      await Promise.all([...asks, ...answers].flatMap(id => [phone.has(id), older.has(id)]))
      t.same([phone.connects, older.connects, wrapper.connects], [2, 2, 1], 'only its clients connected again')

      const read = await ask(`/v3/sessions/${account.session}/messages?limit=100`)
      const stored: { seq: number; localId: string }[] = read.body.messages
      const everything = [...asks, ...answers].toSorted()
      t.same(stored.map(({ localId }) => localId).toSorted(), everything, 'each is stored once')
      t.same(
        stored.map(({ seq }) => seq).toSorted((a, b) => a - b),
        [...everything.keys()].map(nth => nth + 1)
      )
      t.same(phone.seen.toSorted(), everything)
      t.same(older.seen.toSorted(), everything, 'and so it is seen')
    }
  )

t.test('behind nginx, an address has the limits of one instance, however often it asks [Q1] [M7]', { skip: lacksBalancer }, async t => {
  const server = await startBalanced(t, t.testdir({ one: {}, two: {} }), { limits: 'default' })
  for (const which of ['one', 'two'] as const) {
    const from = await server.addressFor(which)
    const statuses: number[] = []
    for (let time = 0; time < limits.login.burst + 5; time += 1)
      statuses.push(
        (await server.ask('/v1/auth', { from, method: 'POST', body: { publicKey: 'A', challenge: 'A', signature: 'A' } })).status
      )
    t.same(statuses, [...Array(limits.login.burst).fill(401), ...Array(5).fill(429)], `at ${which}`)
  }
})

function answerTo(ask: string): string {
  return ask.replace('ask', 'answer')
}

/**
 * Reads what follows its last message after each connection and each update, and repeats what was not answered,
 * as our own clients do.
 */
async function openClient(
  t: Test,
  { server, token, session }: { server: Balanced; token: string; session: string },
  which: Which,
  transport: 'websocket' | 'polling'
) {
  const from = await server.addressFor(which)
  const path = `/v3/sessions/${session}/messages`
  const seen: string[] = []
  const bell = new EventTarget()
  let hear: (localId: string) => unknown = () => {}
  let lastSeq = 0
  let connects = 0
  let isOver = false

  async function insist(path: string, more = {}): Promise<Untyped> {
    while (!isOver) {
      const answer = await server.ask(path, { from, token, ...more }).catch(() => undefined)
      if (answer?.status === 200) return answer.body
    }
  }
  async function read() {
    const body = await insist(`${path}?after_seq=${lastSeq}&limit=100`)
    for (const { seq, localId } of body?.messages ?? []) {
      lastSeq = Math.max(lastSeq, seq)
      seen.push(localId)
      hear(localId)
    }
    bell.dispatchEvent(new Event('news'))
  }
  let reading = Promise.resolve()
  const readNext = () => {
    reading = reading.then(read)
  }

  const socket = io(server.url, {
    path: '/v1/updates',
    transports: [transport],
    agent: new Agent({ ca: readFileSync(server.authority), localAddress: from }) as Untyped,
    auth: { token, clientType: 'user-scoped' },
    forceNew: true,
    reconnectionDelay: 20,
    reconnectionDelayMax: 100
  })
  t.teardown(async () => {
    isOver = true
    socket.disconnect()
    await reading
  })
  const connected = new Promise(resolve => socket.once('connect', () => resolve(undefined)))
  socket.on('connect', () => {
    connects += 1
    readNext()
  })
  socket.on('update', readNext)
  await connected

  return {
    seen,
    get connects() {
      return connects
    },
    onMessage(run: (localId: string) => unknown) {
      hear = run
    },
    async send(localId: string) {
      await insist(path, { method: 'POST', body: { messages: [{ localId, content: 'aGk=' }] } })
    },
    async has(localId: string) {
      while (!seen.includes(localId)) await new Promise(resolve => bell.addEventListener('news', resolve, { once: true }))
    }
  }
}
