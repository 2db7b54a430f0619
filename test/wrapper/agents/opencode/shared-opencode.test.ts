import t, { type Test } from 'tap'
import type { Clock } from '../../../../lib/async/clock.ts'
import * as v from '../../../../lib/schema.ts'
import type { StartAgent } from '../../../../lib/wrapper/agents/agent.ts'
import { Refused } from '../../../../lib/wrapper/agents/opencode/refusals.ts'
import type { OpencodeServer } from '../../../../lib/wrapper/agents/opencode/server.ts'
import { type ServerEvent, serverEvent } from '../../../../lib/wrapper/agents/opencode/shapes.ts'
import { startShared } from '../../../../lib/wrapper/agents/opencode/shared-opencode.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { listenTo } from '../contract.ts'

t.test('a rejected prompt ends its turn with the reason; one that did not arrive is not taken', async t => {
  const { agent, talk, fake } = await begin(t)
  fake.refuses('/prompt_async', new TypeError('fetch failed'))
  t.equal(await agent.prompt('Look'), false)
  t.equal(await agent.steer?.('Look'), false, 'no turn has begun')
  fake.refuses('/prompt_async', new Refused(400, 'No such model.'))
  t.equal(await agent.prompt('Look'), true)
  t.strictSame(await talk.until('turn-ended'), { type: 'turn-ended', reason: 'failed', error: 'No such model.' })
  t.equal(talk.heard.filter(({ type }) => type === 'turn-ended').length, 1)
  fake.refuses('/prompt_async', undefined)
  t.equal(await agent.prompt('Look'), true, 'the next one can begin')
})

t.test('a text during a turn is taken if it arrives', async t => {
  const { agent, fake } = await begin(t)
  t.equal(await agent.steer?.('And this'), false)
  await agent.prompt('Look')
  t.equal(await agent.steer?.('And this'), true)
  fake.refuses('/prompt_async', new Refused(400, 'No.'))
  t.equal(await agent.steer?.('And that'), false)
  t.strictSame(
    fake.sent.filter(([, path]) => path.endsWith('/prompt_async')).map(([, , body]) => body),
    ['Look', 'And this', 'And that'].map(text => ({ ...common, parts: [{ type: 'text', text }] }))
  )
})

t.test('a stopped turn ends as opencode says, and without it after a while', async t => {
  const { agent, talk, fake } = await begin(t)
  await agent.cancel()
  t.strictSame(fake.sent.slice(1), [], 'there is nothing to stop')
  await agent.prompt('Look')
  await agent.cancel()
  t.strictSame(await talk.until('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })

  const clock = manualClock()
  const silent = await begin(t, {}, { clock, abortsAtOnce: false })
  await silent.agent.prompt('Look')
  const cancelled = silent.agent.cancel()
  await new Promise(resolve => setImmediate(resolve))
  t.match(silent.fake.sent.at(-1), ['POST', '/session/new/abort'])
  clock.advance(2_999)
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(silent.talk.heard.some(({ type }) => type === 'turn-ended'))
  clock.advance(1)
  await cancelled
  t.equal(clock.pending, 0)
  t.strictSame(await silent.talk.until('turn-ended'), { type: 'turn-ended', reason: 'cancelled' })
})

t.test('a conversation is forked as opencode does it', async t => {
  const { agent, fake } = await begin(t)
  t.equal(await agent.fork?.(), 'forked')
  t.strictSame(fake.sent.at(-1), ['POST', '/session/new/fork', {}])
})

t.test('a conversation that opencode has is continued; another one starts without it, and says so', async t => {
  const gone = new Refused(404, 'No such session.')
  const notice = 'opencode no longer has this conversation, so a new one starts.'
  const cases: [how: Partial<StartAgent>, history: unknown, conversation: string, told: unknown[]][] = [
    [{}, [], 'new', ['new', 0]],
    [{ resume: 'old' }, [], 'old', ['old', 0]],
    [{ resume: 'old' }, [{ info: { id: 'm', sessionID: 'old', role: 'user', time: { created: 7 } }, parts: [] }], 'old', ['old', 7]],
    [{ resume: 'old' }, gone, 'new', ['conversation new', notice, 'new', 0]],
    [{ resume: 'old', sentUpTo: { file: 'old', offset: 5 } }, gone, 'new', ['conversation new', notice, 'new', 0]],
    [{ resume: 'old', sentUpTo: { file: 'old', offset: 0 } }, gone, 'new', ['conversation new', 'new', 0]]
  ]
  for (const [how, history, conversation, told] of cases) {
    const { agent, talk } = await begin(t, how, { history })
    t.equal(agent.conversation, conversation)
    await talk.until('commands')
    t.strictSame(
      talk.heard.flatMap(event => {
        if (event.type === 'conversation') return `conversation ${event.id}`
        if (event.type === 'notice') return event.text
        return event.type === 'history-read' ? [event.upTo.file, event.upTo.offset] : []
      }),
      told
    )
  }
})

t.test('an empty conversation is deleted at the end, one with messages is not', async t => {
  for (const isEmpty of [true, false]) {
    const { agent, talk, fake } = await begin(t)
    if (!isEmpty) {
      const about = { id: 'm', sessionID: 'new' }
      fake.tell({ type: 'message.updated', properties: { info: { ...about, role: 'user', time: { created: 1 } } } })
      const part = { id: 'p', sessionID: 'new', messageID: 'm', type: 'text', text: 'Look' }
      fake.tell({ type: 'message.part.updated', properties: { part } })
      fake.tell({
        type: 'message.updated',
        properties: { info: { id: 'a', sessionID: 'new', role: 'assistant', time: { created: 2, completed: 3 } } }
      })
      fake.tell({ type: 'session.idle', properties: { sessionID: 'new' } })
      await talk.until('turn-ended')
    }
    await agent.stop()
    t.equal(
      fake.sent.some(([method, path]) => method === 'DELETE' && path === '/session/new'),
      isEmpty
    )
    t.equal(await agent.prompt('Look'), false)
    t.equal(await agent.steer?.('Look'), false)
    t.equal(await agent.setMode?.('plan'), false)
  }
})

interface Begin {
  history?: unknown
  clock?: Clock
  abortsAtOnce?: boolean
}

const common = { agent: 'build', model: undefined, variant: undefined }

/** An agent on a server that has this history of the old conversation. */
async function begin(t: Test, how: Partial<StartAgent> = {}, { history = [], clock, abortsAtOnce = true }: Begin = {}) {
  const answers = {
    '/session/old/message': history,
    '/agent': [{ name: 'build' }, { name: 'plan' }],
    '/config/providers': { default: {}, providers: [] },
    '/config': {},
    '/command': []
  }
  const fake = fakeServer(answers, abortsAtOnce)
  const agent = await startShared({
    server: fake.server,
    program: 'opencode',
    how: { directory: '/', env: {}, ...how },
    ...(clock && { clock })
  })
  t.teardown(() => agent.stop())
  return { agent, talk: listenTo(agent), fake }
}

/** Answers like this. Ends a turn that is to be aborted at once, or not at all. */
function fakeServer(answers: Record<string, unknown>, abortsAtOnce: boolean) {
  const ended = Promise.withResolvers<string>()
  const sent: [method: string, path: string, body: unknown][] = []
  const failures = new Map<string, Error | undefined>()
  let listener: (event: ServerEvent) => void = () => {}
  const server: OpencodeServer = {
    url: 'http://127.0.0.1:1',
    password: 'secret',
    version: '1.18.33',
    ended: ended.promise,
    lastLines: () => '',
    async get(path, shape) {
      const answer = answers[path]
      if (answer instanceof Error) throw answer
      return v.parse(shape, answer)
    },
    async send(method, path, body) {
      const { messageID: _, ...rest } = (body ?? {}) as { messageID?: string }
      sent.push([method, path, rest])
      if (path.endsWith('/abort') && abortsAtOnce) {
        tell({ type: 'session.error', properties: { sessionID: 'new', error: { name: 'MessageAbortedError' } } })
        tell({ type: 'session.idle', properties: { sessionID: 'new' } })
      }
      const failure = failures.get(path.replace(/^\/session\/[^/]+/, ''))
      if (failure) throw failure
      return { id: path.endsWith('/fork') ? 'forked' : 'new', title: '', cost: 0 }
    },
    async listen(onEvent, onOpen) {
      listener = onEvent
      onOpen()
      await ended.promise
    },
    async end() {
      ended.resolve('code 0')
    }
  }
  const refuses = (path: string, failure: Error | undefined) => failures.set(path, failure)
  const tell = (event: object) => listener(v.parse(serverEvent, event))
  return { server, sent, refuses, tell }
}
