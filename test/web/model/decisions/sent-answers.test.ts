import { signal } from '@preact/signals'
import t from 'tap'
import { CallFailed, cryptoReady } from '../../../../lib/client/index.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import type { Answered, OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import type { OpenQuestion } from '../../../../web/model/decisions/questions.ts'
import { openSentAnswers } from '../../../../web/model/decisions/sent-answers.ts'
import type { Reply, ReplyState } from '../../../../web/model/outbox/replies.ts'
import { machine } from '../../kit/machine.ts'

t.before(() => cryptoReady())

const request: OpenRequest = { id: 'p1', tool: 'Bash', arguments: { command: 'npm test' }, createdAt: 1, shown: 'hash' }
const question = { id: 'q1', createdAt: 1, title: undefined, call: undefined, shown: 'h', type: 'link', url: 'https://x' } as OpenQuestion
const allowed: Answered = {
  ...{ id: 'p1', call: undefined, tool: 'Bash', args: {}, title: undefined, outcome: 'allowed-once', reason: undefined },
  ...{ by: 'Phone', at: 5 }
}

/** The answers of session `s1`, on a device named Phone. */
function open() {
  const { link, asked } = machine<Pick<Live, 'socket' | 'cipherOfMachine'>>({ 'rules-try': { looked: 5, passed: 2, entries: [] } })
  const all = signal<readonly Reply[]>([])
  const did: unknown[] = []
  const queue = {
    of: (kind: string) => all.value.filter(each => each.kind === kind),
    send: async (reply: Reply, mayWait: boolean) => void did.push([reply, mayWait]),
    withdraw: async (key: string) => void did.push(['withdraw', key]),
    dismiss: (key: string) => did.push(['dismiss', key])
  }
  const state = { hasKey: true }
  const cipherOf = (id: string) => (state.hasKey && id === 's1' ? link.cipherOfMachine('m1') : undefined)
  const requests = signal<readonly OpenRequest[]>([request])
  const answered = signal<readonly Answered[]>([])
  const live = { queue, socket: link.socket, cipherOf } as unknown as Live
  return {
    ...{ all, did, asked, state, requests, answered },
    sent: openSentAnswers({ id: 's1', live, me: 'Phone' }, { requests, answered })
  }
}

const reply = (more: object, state: ReplyState = { type: 'sending' }) =>
  ({
    key: 's1 p1',
    kind: 'reply',
    session: 's1',
    at: 3,
    type: 'permission',
    asked: request,
    verdict: { kind: 'once' },
    state,
    ...more
  }) as Reply

t.test('an answer waits for a connection, but to allow something risky never does [U3]', async t => {
  const rows = [
    ['once', false, true],
    ['once', true, false],
    ['session', true, false],
    ['always', true, false],
    ['deny', true, true],
    ['stop', true, true]
  ] as const
  for (const [kind, isRisky, mayWait] of rows) {
    const { sent, did } = open()
    await sent.answer(request, { kind }, isRisky)
    t.match(did, [
      [{ key: 's1 p1', kind: 'reply', session: 's1', type: 'permission', asked: request, verdict: { kind }, at: Number }, mayWait]
    ])
  }
})

t.test('an answer to a question waits for a connection, also one that leaves it to the agent', async t => {
  const { sent, did } = open()
  await sent.answerQuestion(question, { a: { values: ['x'] } })
  await sent.answerQuestion(question, undefined)
  t.match(did, [
    [{ key: 's1 q1', type: 'question', asked: question, answers: { a: { values: ['x'] } } }, true],
    [{ key: 's1 q1', type: 'question', answers: undefined }, true]
  ])
})

t.test('an answer is withdrawn, or dismissed, by its request', async t => {
  const { sent, did } = open()
  sent.withdraw('p1')
  sent.dismiss('p1')
  t.same(did, [
    ['withdraw', 's1 p1'],
    ['dismiss', 's1 p1']
  ])
})

t.test('the answers of this session are shown with what became of them', async t => {
  const { sent, all, requests, answered } = open()
  all.value = [
    reply({}),
    reply({ key: 's2 p1', session: 's2', state: { type: 'queued' } }),
    reply({ key: 's1 q1', type: 'question', asked: question }, { type: 'queued' })
  ]
  t.same([...sent.lives.value.keys()], ['p1'])
  t.match(sent.lives.value.get('p1'), { life: { type: 'sending' }, answer: { request, verdict: { kind: 'once' }, at: 3 } })
  t.same([...sent.questionStates.value], [['q1', { type: 'queued' }]])
  requests.value = []
  answered.value = [{ ...allowed, id: 'p0', by: 'Tablet' }, allowed]
  t.match(sent.lives.value.get('p1')?.life, { type: 'applied', answered: { by: 'Phone' } })
  answered.value = [{ ...allowed, by: 'Tablet' }]
  t.match(sent.lives.value.get('p1')?.life, { type: 'elsewhere' })
})

t.test('an answer that failed can be given again while its request is open, and not after', async t => {
  const { sent, all, requests } = open()
  all.value = [reply({}, { type: 'failed', why: 'away', says: '' })]
  t.match(sent.lives.value.get('p1')?.life, { type: 'failed', why: 'away' })
  requests.value = [{ ...request, id: 'p2' }]
  t.match(sent.lives.value.get('p1')?.life, { type: 'ended' })
})

t.test('a rule is tried by the session, and not without its key', async t => {
  const { sent, asked, state } = open()
  const pattern = { on: 'command' as const, pattern: 'npm test', folder: '/work' }
  t.match(await sent.tryRule(pattern), { passed: 2 })
  t.same(asked, [['s1:rules-try', pattern]])
  state.hasKey = false
  await t.rejects(sent.tryRule(pattern), CallFailed)
  t.equal(asked.length, 1)
})
