import t from 'tap'
import type { Answered } from '../../../../web/model/decisions/decisions.ts'
import type { Item, Step } from '../../../../web/model/transcript/items.ts'
import { callOfRequest, joinAnswered, withReasonsOnce } from '../../../../web/session/transcript/step-permissions.ts'

const step = (call: string, at: number, endedAt: number | undefined, more: Partial<Step> = {}): Step => ({
  type: 'step',
  key: call,
  seq: at,
  at,
  call,
  kind: 'edit',
  name: 'edit',
  title: '',
  description: '',
  args: { items: [{ path: '/a/no.txt', newText: 'x' }] },
  locations: [],
  content: [],
  state: endedAt === undefined ? 'running' : 'done',
  endedAt,
  ...more
})
const answer = (id: string, at: number, more: Partial<Answered> = {}): Answered => ({
  id,
  call: undefined,
  tool: 'edit',
  args: [{ path: '/a/no.txt', newText: 'x' }],
  title: undefined,
  outcome: 'denied',
  reason: undefined,
  by: undefined,
  at,
  ...more
})
const states = (steps: Step[], answers: Answered[]) => {
  const { items, answered } = joinAnswered(steps, answers)
  return { states: items.map(item => item.type === 'step' && item.state), calls: answered.map(({ call }) => call) }
}

t.test('a denied step is shown as such, although its wrapper gave the request another id', t => {
  t.same(states([step('s', 10, 30)], [answer('q', 20)]), { states: ['denied'], calls: ['s'] })
  t.same(states([step('s', 10, 30)], [answer('q', 20, { call: 'unknown' })]), { states: ['denied'], calls: ['s'] })
  t.same(states([step('s', 10, 30)], [answer('q', 20, { outcome: 'allowed-once' })]), { states: ['done'], calls: ['s'] })
  t.same(states([step('s', 10, 30, { state: 'ok' })], [answer('q', 20)]), { states: ['ok'], calls: ['s'] }, 'a reported result is kept')
  t.end()
})

t.test('each answer belongs to the step open at that time, to one with the same content, and to no other', t => {
  const twice = [step('first', 10, 20), step('second', 30, 40)]
  t.same(states(twice, [answer('b', 35), answer('a', 15, { outcome: 'allowed-once' })]), {
    states: ['done', 'denied'],
    calls: ['second', 'first']
  })
  t.same(states(twice, [answer('q', 50)]).calls, [undefined], 'after its end')
  t.same(states([step('s', 10, 30)], [answer('q', 20, { args: { file_path: '/a/else.txt' } })]).calls, [undefined])
  t.same(states([step('s', 10, 30, { kind: 'execute' })], [answer('q', 20)]).calls, [undefined])
  t.same(states([step('s', 10, 30)], [answer('q', 20, { call: 's', outcome: 'allowed-once' }), answer('p', 20)]).calls, ['s', undefined])
  t.end()
})

t.test('a request belongs to the running step, by its id or by its content', t => {
  const request = { id: 'q', tool: 'edit', arguments: {}, createdAt: 1 }
  const items = [step('ended', 1, 2), step('runs', 3, undefined)]
  t.equal(callOfRequest(request, items), 'runs', 'some requests do not say what they are about')
  t.equal(callOfRequest({ ...request, toolUseId: 'told' }, items), 'told')
  t.equal(callOfRequest({ ...request, tool: 'execute' }, items), undefined)
  t.end()
})

t.test('an update without changes is the same object, so that nothing is rendered again', t => {
  const items = [step('s', 10, 30)]
  const known = [answer('q', 20, { call: 's' })]
  t.equal(joinAnswered(items, known).items, items)
  t.equal(joinAnswered(items, known).answered, known)
  const [one, two] = [1, 2].map(() => joinAnswered(items, [answer('q', 20)]).items[0])
  t.equal(one, two)
  t.end()
})

t.test('a reason that the wrapper passed on as a message is shown only in that message', t => {
  const said = (text: string, from: 'app' | 'decision'): Item => ({
    type: 'mine',
    key: text,
    seq: 1,
    at: 1,
    localId: null,
    text,
    from,
    files: [],
    isSteer: false,
    isWithdrawn: false
  })
  const why = [answer('a1', 1, { reason: 'Ask Ann first.' }), answer('a2', 2, { reason: 'Too slow.' })]
  const reasons = (items: Item[]) => withReasonsOnce(why, items).map(({ reason }) => reason)
  t.same(reasons([said('I said no to “Write a.txt”: Ask Ann first.', 'decision')]), [undefined, 'Too slow.'])
  t.same(
    reasons([said('To myself: Ask Ann first.', 'app')]),
    ['Ask Ann first.', 'Too slow.'],
    'what a person wrote themselves is no reason'
  )
  t.end()
})
