import t from 'tap'
import { cryptoReady, Unreachable } from '../../../lib/client/index.ts'
import { continueConversation, forkSession, readHistories, searchHistories } from '../../../web/model/histories.ts'
import { machine as machineOf } from '../kit/machine.ts'

t.before(() => cryptoReady())

const history = { agent: 'claude', id: 'c1', folder: '/work/pears', title: 'Pears', at: 1 }

type Link = Parameters<typeof readHistories>[0]
const machine = (results: Record<string, unknown>) => machineOf<Link>(results)

t.test('conversations are listed, and a machine that reports none, or is away, has none', async t => {
  const { link, asked, state } = machine({ 'agent-histories': { histories: [history], cursor: null } })
  t.match(await readHistories(link, 'm1', 20), [{ id: 'c1' }])
  t.same(asked, [['m1:agent-histories', { limit: 20 }]])
  state.hasKey = false
  t.same(await readHistories(link, 'm1', 20), [])
  for (const said of [{ error: 'unknown method' }, new Unreachable('not-connected')]) {
    t.same(await readHistories(machine({ 'agent-histories': said }).link, 'm1', 20), [])
  }
})

t.test('a conversation continues in a new session, or says why not', async t => {
  const of = (said: unknown) => machine({ 'spawn-happy-session': said })
  const { link, asked, state } = of({ type: 'success', sessionId: 's1' })
  t.equal(await continueConversation(link, 'm1', history), 's1')
  t.same(asked, [['m1:spawn-happy-session', { agent: 'claude', directory: '/work/pears', conversation: 'c1' }]])
  state.hasKey = false
  t.same(await continueConversation(link, 'm1', history), { type: 'failed', why: 'unreadable', says: '' })
  const rows = [
    [
      { type: 'requestToApproveDirectoryCreation', directory: '/work/pears' },
      { type: 'failed', why: 'failed', says: '/work/pears' }
    ],
    [{ error: 'no agent' }, { type: 'failed', why: 'failed', says: 'no agent' }],
    [new TypeError('broken'), { type: 'failed', why: 'unreadable', says: 'TypeError: broken' }]
  ] as const
  for (const [said, expected] of rows) t.same(await continueConversation(of(said).link, 'm1', history), expected)
})

t.test('a search names its words, and says why it failed', async t => {
  const { link, asked } = machine({ 'search-histories': { error: 'busy' } })
  t.same(await searchHistories(link, 'm1', 'pears'), { type: 'failed', why: 'failed', says: 'busy' })
  t.same(asked, [['m1:search-histories', { words: 'pears', limit: 30 }]])
})

t.test('a session is forked in full, or at a message that the agent knows', async t => {
  const point = { uuid: 'u1', text: 'Prune the pears', timestamp: 1 }
  const { link, asked, state } = machine({ 'fork-session': { type: 'success', sessionId: 's2' }, 'rewind-points': { points: [point] } })
  t.equal(await forkSession(link, 'm1', 's1'), 's2')
  t.same(asked.splice(0), [['m1:fork-session', { sessionId: 's1' }]])
  t.equal(await forkSession(link, 'm1', 's1', { text: 'Prune the pears', at: 1 }), 's2')
  t.same(asked.splice(0), [
    ['m1:rewind-points', { sessionId: 's1' }],
    ['m1:fork-session', { sessionId: 's1', at: 'u1' }]
  ])
  t.equal(await forkSession(link, 'm1', 's1', { text: 'Rake', at: 1 }), 'not-there')
  t.same(asked.splice(0), [['m1:rewind-points', { sessionId: 's1' }]])
  state.hasKey = false
  t.same(await forkSession(link, 'm1', 's1'), { type: 'failed', why: 'unreadable', says: '' })
})
