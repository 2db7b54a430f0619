import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import type { Requests } from '../../../../lib/wrapper/agents/codex/requests.ts'
import type { Line } from '../../../../lib/wrapper/agents/codex/server.ts'
import type { Thread } from '../../../../lib/wrapper/agents/codex/shapes.ts'
import { createThreads } from '../../../../lib/wrapper/agents/codex/threads.ts'
import type { Turns } from '../../../../lib/wrapper/agents/codex/turns.ts'

const threads: Thread[] = [
  { id: 'first', ephemeral: false },
  { id: 'of-a-subagent', ephemeral: false, parentThreadId: 'first' },
  { id: 'for-a-title', ephemeral: true },
  { id: 'next', ephemeral: false }
].map(thread => ({ parentThreadId: undefined, model: undefined, reasoningEffort: undefined, ...thread }))

/** Codex with a screen, whose current thread is the first. */
function followed() {
  const conversations: string[] = []
  const line = {
    async request(method: string, params: { threadId: string }) {
      if (method === 'thread/turns/list') return { data: [], nextCursor: null }
      return {
        thread: threads.find(({ id }) => id === params.threadId),
        sandbox: { type: '' },
        initialTurnsPage: { data: [], nextCursor: null }
      }
    }
  } as unknown as Line
  const turns = { running: undefined, goTo() {}, tell() {}, place: { thread: '', turn: undefined, isSent: false } } as unknown as Turns
  const codex = createThreads({
    line,
    how: { directory: '/', sentUpTo: undefined },
    turns,
    requests: {} as Requests,
    settings: () => undefined,
    screen: () => ({ isOpen: true }),
    emit: (event: AgentEvent) => event.type === 'conversation' && conversations.push(event.id),
    isOurs: () => false,
    onUnsent() {}
  })
  return { codex, conversations }
}

const events: [name: string, of: (thread: Thread) => Parameters<ReturnType<typeof createThreads>['hear']>[0]][] = [
  ['starts', thread => ({ method: 'thread/started', params: { thread } })],
  ['becomes active', ({ id }) => ({ method: 'thread/status/changed', params: { threadId: id, status: { type: 'active' } } })]
]
for (const [name, of] of events) {
  t.test(`a thread in which Codex itself works is not followed when it ${name}; one of a person is`, async t => {
    const { codex, conversations } = followed()
    await codex.resume('first')
    for (const thread of threads.slice(1)) {
      codex.hear(of(thread))
      // What it asks Codex is answered at once.
      await new Promise(resolve => setImmediate(resolve))
    }
    t.strictSame(conversations, ['first', 'next'])
    t.equal(codex.conversation, 'next')
  })
}
