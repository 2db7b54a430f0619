import { signal } from '@preact/signals'
import t from 'tap'
import type { Cipher } from '../../../../lib/crypto/envelopes.ts'
import type { OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import type { OpenQuestion } from '../../../../web/model/decisions/questions.ts'
import { openQueue } from '../../../../web/model/outbox/durable-queue.ts'
import { giveReply, type Reply, type ReplyState, replies, replyKey } from '../../../../web/model/outbox/replies.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import { memoryDb, until } from '../../kit/device.ts'

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

type App = ReturnType<ReturnType<typeof device>['openApp']>

/** The entries that a restarted app finds queued. */
async function keptOn(app: App): Promise<string[]> {
  await app.isRead
  const found = app.all.value.map(({ asked }) => asked.id)
  await app.close()
  return found
}
