import { signal } from '@preact/signals'
import t from 'tap'
import { cryptoReady } from '../../../../lib/client/index.ts'
import type { Cipher } from '../../../../lib/crypto/envelopes.ts'
import type { ServerLink } from '../../../../web/model/account/server-link.ts'
import type { OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import type { OpenQuestion } from '../../../../web/model/decisions/questions.ts'
import { openQueue } from '../../../../web/model/outbox/durable-queue.ts'
import { giveReply, type Reply, type ReplyState, replies, replyKey } from '../../../../web/model/outbox/replies.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import { memoryDb, until } from '../../kit/device.ts'
import { machine } from '../../kit/machine.ts'

t.before(() => cryptoReady())

const request: OpenRequest = { id: 'p1', tool: 'Bash', arguments: { command: 'npm test' }, createdAt: 1, shown: 'hash' }
const question: Extract<OpenQuestion, { type: 'form' }> = {
  id: 'q1',
  createdAt: 1,
  title: undefined,
  call: undefined,
  shown: 'hash',
  type: 'form',
  questions: [{ id: 'a', question: 'Which?', options: [], multiSelect: false, allowsOther: true, isRequired: true }]
}
const given = { type: 'permission' as const, session: 's1', asked: request, verdict: { kind: 'once' as const }, at: 1 }
const plain: Cipher = { seal: value => JSON.stringify(value), open: sealed => ({ ok: true, value: JSON.parse(sealed) }) }

/** A device whose storage outlives each app opened on it. */
function device() {
  const db = memoryDb()
  const sessions = signal<ReadonlyMap<string, SessionView>>(new Map())
  const isLinked = signal(false)
  const calls: string[] = []
  let answer: { ok: true; result: string } | { ok: false; error: string } = { ok: true, result: '{}' }
  const socket = {
    async request(_event: string, { method }: { method: string }) {
      calls.push(method)
      return answer
    }
  }
  return {
    calls,
    isLinked,
    failWith: (error: string) => {
      answer = { ok: false, error }
    },
    hear(session: Partial<SessionView>) {
      sessions.value = new Map([['s1', { id: 's1', isActive: true, agentState: { requests: { p1: request } }, ...session } as SessionView]])
    },
    openApp() {
      const reply = replies({ link: { socket: socket as never, cipherOf: () => plain }, sessions, me: () => 'This phone' })
      return openQueue<Reply>({ kinds: { reply }, isLinked, db: async () => db })
    }
  }
}

const states = (queue: App): ReplyState['type'][] => queue.all.value.map(({ state }) => state.type)

t.test('a decision and an answer made offline are sent once the link returns, also after the app was closed [U2]', async t => {
  const { openApp, hear, isLinked, calls } = device()
  const before = openApp()
  await giveReply(before, given, true)
  await giveReply(before, { type: 'question', session: 's1', asked: question, answers: { a: { values: [], other: 'Redis' } }, at: 2 }, true)
  await before.close()

  const after = openApp()
  await until(after.all, all => all.length === 2)
  t.strictSame(states(after), ['queued', 'queued'])
  isLinked.value = true
  t.strictSame(calls, [], 'nothing is sent before the session says that it is still open')
  hear({
    agentState: {
      requests: {
        p1: request,
        q1: { tool: 'AskUserQuestion', arguments: {}, createdAt: 1, shown: 'hash', form: { questions: [...question.questions] } }
      }
    }
  })
  await until(after.all, () => states(after).every(state => state === 'delivered'))
  t.strictSame(calls, ['s1:permission', 's1:permission'])
  await after.close()
  t.strictSame(await keptOn(openApp()), [], 'nothing is sent twice')
})

t.test('a withdrawn one, or one that only a person may send, is never sent [U2] [U3]', async t => {
  const { openApp, hear, isLinked, calls } = device()
  const before = openApp()
  await giveReply(before, given, false)
  t.strictSame(states(before), ['failed'], 'it says that there is no link')
  t.strictSame(await keptOn(openApp()), [])
  await giveReply(before, given, true)
  await before.withdraw(replyKey('s1', 'p1'))
  isLinked.value = true
  hear({})
  await before.close()
  t.strictSame(await keptOn(openApp()), [])
  t.strictSame(calls, [])
})

t.test('one whose question ended meanwhile is dropped unsent [U2]', async t => {
  const { openApp, hear, isLinked, calls } = device()
  const queue = openApp()
  await giveReply(queue, given, true)
  isLinked.value = true
  hear({ agentState: { requests: {} } })
  await queue.close()
  t.strictSame(await keptOn(openApp()), [])
  t.strictSame(calls, [])
})

t.test('one withdrawn in another tab of the device is not sent by this one [U2]', async t => {
  const { openApp, hear, isLinked, calls } = device()
  const one = openApp()
  await giveReply(one, given, true)
  const other = openApp()
  await until(other.all, all => all.length === 1)
  await one.withdraw(replyKey('s1', 'p1'))
  await one.close()
  isLinked.value = true
  hear({})
  await until(other.all, all => all.length === 0)
  t.strictSame(calls, [])
})

t.test("it keeps waiting for a machine that is away, and shows a machine's rejection [U2]", async () => {
  const { openApp, hear, isLinked, failWith } = device()
  const queue = openApp()
  await giveReply(queue, given, true)
  failWith('RPC method not available')
  isLinked.value = true
  hear({})
  await until(queue.all, () => states(queue)[0] === 'sending')
  await until(queue.all, () => states(queue)[0] === 'queued')
  failWith('This request changed.')
  hear({ seq: 2 })
  await until(queue.all, () => states(queue)[0] === 'failed')
})

/** How a reply is sent to a session that answers this, and what reached it. */
function sending(said: unknown) {
  const { link, asked } = machine<Pick<ServerLink, 'socket' | 'cipherOfMachine'>>({ permission: said, communication: said })
  const keys = { hasKey: true }
  const cipherOf = () => (keys.hasKey ? (link.cipherOfMachine('s1') as never) : undefined)
  const kind = (name?: string) => replies({ link: { socket: link.socket, cipherOf }, sessions: signal(new Map()), me: () => name })
  return { asked, keys, kind }
}

const entry = { key: 's1 p1', kind: 'reply' as const, state: { type: 'queued' as const } }

t.test('a decision says what was shown, how it was decided and by whom', async t => {
  const { asked, kind } = sending({})
  t.same(await kind('Phone').send({ ...entry, ...given }), { type: 'delivered' })
  await kind().send({ ...entry, ...given, verdict: { kind: 'deny', reason: 'use clean' } })
  t.same(asked, [
    ['s1:permission', { id: 'p1', approved: true, decision: 'approved', shown: 'hash', answeredBy: 'Phone' }],
    ['s1:permission', { id: 'p1', approved: false, decision: 'denied', reason: 'use clean', shown: 'hash' }]
  ])
})

t.test('an answer goes to a wrapper of ours and to an older one in the format that each reads', async t => {
  const { asked, kind } = sending({})
  const answer = { ...entry, session: 's1', at: 1, type: 'question' as const, answers: { a: { values: [], other: 'Redis' } } }
  await kind('Phone').send({ ...answer, asked: question })
  await kind('Phone').send({ ...answer, asked: { ...question, olderKind: 'form' } })
  await kind('Phone').send({ ...answer, asked: { ...question, olderKind: 'form' }, answers: undefined })
  t.match(asked, [
    ['s1:permission', { id: 'q1', approved: true, answers: { a: { other: 'Redis' } }, shown: 'hash', answeredBy: 'Phone' }],
    ['s1:communication', { id: 'q1', kind: 'form', status: 'answered', answers: { a: { other: 'Redis' } }, answeredBy: 'Phone' }],
    ['s1:communication', { id: 'q1', kind: 'form', status: 'cancelled' }]
  ])
})

t.test('an answer that cannot be encrypted, or was rejected, says so', async t => {
  const { asked, keys, kind } = sending({ error: 'This request changed.' })
  t.same(await kind().send({ ...entry, ...given }), { type: 'failed', why: 'failed', says: 'This request changed.' })
  keys.hasKey = false
  t.same(await kind().send({ ...entry, ...given }), { type: 'failed', why: 'unreadable', says: '' })
  t.equal(asked.length, 1)
})

t.test(
  'an answer leaves while its session is connected and still asks, waits while that is unknown, and is over when it does not',
  async t => {
    const requests = { p1: request }
    const form = { questions: [...question.questions] }
    const asksToo = { q1: { tool: 'AskUserQuestion', arguments: {}, createdAt: 1, form } }
    const never = Number.POSITIVE_INFINITY
    const rows: [string, Partial<SessionView> | undefined, number | 'over'][] = [
      ['it asks', { isActive: true, agentState: { requests } }, 0],
      ['it asks something else too', { isActive: true, agentState: { requests: { ...asksToo, ...requests } } }, 0],
      ['its wrapper is gone', { isActive: false, agentState: { requests } }, never],
      ['it is not known', undefined, never],
      ['its state cannot be read', { isActive: true, agentState: undefined }, never],
      ['it asks nothing any more', { isActive: true, agentState: null }, 'over'],
      ['it asks something else', { isActive: true, agentState: { requests: asksToo } }, 'over'],
      ['it ended', { isActive: false, agentState: {} }, 'over'],
      [
        'another device answered',
        { isActive: true, agentState: { requests, completedRequests: { p1: { ...request, completedAt: 2, status: 'approved' } } } },
        'over'
      ]
    ]
    for (const [what, session, expected] of rows) {
      const sessions = signal(new Map(session ? [['s1', { id: 's1', ...session } as SessionView]] : []))
      const { mayLeave } = replies({ link: {} as never, sessions, me: () => undefined })
      t.equal(mayLeave({ ...entry, ...given }), expected, what)
    }
    const sessions = signal(new Map([['s1', { id: 's1', isActive: true, agentState: { requests: asksToo } } as unknown as SessionView]]))
    const { mayLeave } = replies({ link: {} as never, sessions, me: () => undefined })
    t.equal(mayLeave({ ...entry, session: 's1', at: 1, type: 'question', asked: question, answers: undefined }), 0)
  }
)

t.test('the device vibrates when an answer is given, and differently when it failed', async t => {
  const felt: unknown[] = []
  t.intercept(globalThis, 'navigator', { value: { vibrate: (pattern: number[]) => felt.push(pattern) } })
  Object.assign(globalThis, { matchMedia: () => ({ matches: false }) })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'matchMedia'))
  const sent: unknown[] = []
  const queue = { send: async (...of: unknown[]) => void sent.push(of) }
  await giveReply(queue, given, true)
  t.same(felt, [[20]])
  replies({ link: {} as never, sessions: signal(new Map()), me: () => undefined }).onFailed?.()
  t.same(felt.at(-1), [30, 60, 30])
  t.same(sent, [[{ ...given, kind: 'reply', key: 's1 p1', state: { type: 'queued' } }, true]])
})

type App = ReturnType<ReturnType<typeof device>['openApp']>

/** The entries that a restarted app finds queued. */
async function keptOn(app: App): Promise<string[]> {
  await app.isRead
  const found = app.all.value.map(({ asked }) => asked.id)
  await app.close()
  return found
}
