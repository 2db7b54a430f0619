import t from 'tap'
import { currentAgentState, olderParams } from '../../../../lib/client/happy/agent-state.ts'
import type { Question } from '../../../../lib/protocol/sealed/decisions/questions.ts'
import type { AgentState } from '../../../../lib/protocol/sealed/session.ts'
import { decisionsOf, openRequests } from '../../../../web/model/decisions/decisions.ts'
import { answeredQuestions, openQuestions, questionParams } from '../../../../web/model/decisions/questions.ts'

const colour: Question = {
  id: 'colour',
  question: 'Which colour?',
  multiSelect: false,
  options: [{ value: 'g', label: 'Green' }],
  allowsOther: true,
  isRequired: true
}
const input = {
  questions: [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options: [{ label: 'Green', description: '' }] }]
}
const request = { tool: 'AskUserQuestion', arguments: input, createdAt: 1 }
const forms: Record<string, AgentState> = {
  ours: { requests: { q: { ...request, title: 'The gate', call: 'c', shown: 'h', form: { questions: [colour] } } } },
  "one of Happy's CLI": { requests: { q: { ...request, toolUseId: 'c' } } },
  'one of an older wrapper of ours': currentAgentState({
    communications: { q: { kind: 'form', createdAt: 1, shown: 'h', form: { questions: [colour] } } }
  })
}

for (const [whose, state] of Object.entries(forms))
  t.test(`a question is parsed as one, and never as a permission: ${whose}`, t => {
    const [question] = openQuestions(state)
    t.match(question, { id: 'q', type: 'form', questions: [{ question: 'Which colour?', options: [{ label: 'Green' }] }] })
    t.strictSame(openRequests(state), [])
    t.strictSame(openQuestions({ ...state, completedRequests: { q: { ...request, completedAt: 2, status: 'canceled' } } }), [])
    t.end()
  })

t.test('a question is at the step that asked it, whichever wrapper names it', t => {
  const [ours, happy] = Object.values(forms).flatMap(openQuestions)
  t.same([ours?.call, happy?.call], ['c', 'c'])
  t.end()
})

t.test('an answer has the format of each wrapper that may have asked', t => {
  const [ours, happy, older] = Object.values(forms).flatMap(openQuestions)
  if (!ours || !happy || !older) throw new Error('They were read above.')
  t.strictSame(questionParams(ours, { colour: { values: ['g'] } }, 'Phone'), {
    id: 'q',
    approved: true,
    decision: 'approved',
    answers: { colour: { values: ['g'] } },
    updatedInput: { answers: { 'Which colour?': 'Green' } },
    shown: 'h',
    answeredBy: 'Phone'
  })
  t.match(questionParams(happy, { 'Which colour?': { values: ['Green'], other: 'dark' } }, undefined), {
    approved: true,
    updatedInput: { answers: { 'Which colour?': 'Green, dark' } }
  })
  t.match(questionParams(ours, undefined, 'Phone'), { id: 'q', approved: false, decision: 'denied', shown: 'h' })
  t.equal(older.olderKind, 'form')
  t.strictSame(olderParams(older, { colour: { values: ['g'] } }, 'Phone'), {
    id: 'q',
    kind: 'form',
    status: 'answered',
    answers: { colour: { values: ['g'] } },
    shown: 'h',
    answeredBy: 'Phone'
  })
  t.end()
})

t.test('an answered question shows its answer, and a yes without text looks like any yes', t => {
  const over = { ...request, completedAt: 2 }
  const state = currentAgentState({
    completedRequests: {
      said: { ...over, status: 'approved', answers: { 'Which colour?': 'Green' }, answeredBy: 'Phone' },
      left: { ...over, status: 'denied' },
      happy: { ...over, status: 'approved' }
    },
    completedCommunications: {
      older: { kind: 'form', createdAt: 1, completedAt: 2, status: 'answered', answers: { colour: { values: [], other: 'Blue' } } }
    }
  })
  t.match(answeredQuestions(state), [
    { id: 'said', title: 'Which colour?', outcome: 'allowed-once', by: 'Phone', said: { text: 'Green' } },
    { id: 'left', outcome: 'denied', said: { text: undefined } },
    { id: 'older', said: { text: 'Blue' } }
  ])
  t.match(decisionsOf(state), [{ id: 'happy', outcome: 'allowed-once' }])
  t.end()
})

t.test('open questions are listed oldest first, those of one moment always in the same order', t => {
  const [ask] = Object.values(Object.values(forms)[0]?.requests ?? {})
  const ids = (all: [id: string, createdAt: number][]) =>
    openQuestions({ requests: Object.fromEntries(all.map(([id, createdAt]) => [id, { ...ask, createdAt }])) } as AgentState).map(
      ({ id }) => id
    )
  t.same(
    ids([
      ['a', 2],
      ['b', 1]
    ]),
    ['b', 'a']
  )
  t.same(
    ids([
      ['b', 1],
      ['a', 1],
      ['c', 1]
    ]),
    ['a', 'b', 'c']
  )
  t.same(
    ids([
      ['c', 1],
      ['b', 1],
      ['a', 1]
    ]),
    ['a', 'b', 'c']
  )
  t.end()
})

t.test('a question may be a page to open, and one with choices of an older wrapper is answered as a permission', async t => {
  const rows: [string, object, object | undefined][] = [
    ['a page', { arguments: {}, url: 'https://pears.example' }, { type: 'link', url: 'https://pears.example' }],
    ['a form comes before a page', { form: { questions: [colour] }, url: 'https://pears.example' }, { type: 'form', questions: [colour] }],
    ['an empty form', { arguments: {}, form: { questions: [] } }, undefined],
    ['an empty form of one that has a page', { form: { questions: [] }, url: 'https://pears.example' }, { type: 'link' }],
    ['only the input of the tool', { form: undefined }, { type: 'form', questions: [{ question: 'Which colour?' }] }],
    ['choices', { choices: [], form: { questions: [colour] } }, undefined],
    ['another tool', { tool: 'Bash', form: { questions: [colour] } }, undefined]
  ]
  for (const [what, more, expected] of rows) {
    const state = { requests: { q: { ...request, ...more } } } as AgentState
    const [question] = openQuestions(state)
    if (expected) t.match(question, { id: 'q', createdAt: 1, ...expected }, what)
    else t.equal(question, undefined, what)
    t.equal(openRequests(state).length, expected ? 0 : 1, 'it is one of both')
  }
})

t.test('how a question ended is listed with its answers and its first question', async t => {
  const over = { ...request, completedAt: 2 }
  const answered = (more: object) =>
    answeredQuestions({ completedRequests: { q: { ...over, status: 'approved', answers: {}, ...more } } } as AgentState)[0]
  t.same(answered({ answers: { a: 'Green', b: 'dark' }, title: 'The gate', call: 'c', toolUseId: 'other', answeredBy: 'Phone' }), {
    ...{ id: 'q', call: 'c', tool: 'AskUserQuestion', args: {}, title: 'The gate', outcome: 'allowed-once', reason: undefined },
    ...{ by: 'Phone', at: 2, said: { text: 'Green; dark' } }
  })
  t.match(answered({ toolUseId: 'other' }), { call: 'other', title: 'Which colour?', by: undefined })
  t.match(answered({ arguments: 'text' }), { title: undefined })
  t.match(answered({ status: 'canceled', answers: undefined }), { outcome: 'ended', said: { text: undefined } })
  t.match(answered({ status: 'denied', answers: undefined }), { outcome: 'denied' })
  t.equal(answered({ status: 'denied', answers: undefined, reason: 'not now' }), undefined, 'a reason is given to a permission')
  t.equal(answered({ tool: 'Bash' }), undefined)
  t.same([answeredQuestions(undefined), openQuestions(undefined)], [[], []])
})

t.test('a question left to the agent says so, and a page that was opened has nothing to write', async t => {
  const [ours] = Object.values(forms).flatMap(openQuestions)
  if (!ours) throw new Error('It was read above.')
  const { shown: _, ...unbound } = ours
  t.strictSame(questionParams({ ...unbound, shown: undefined }, undefined, undefined), {
    ...{ id: 'q', approved: false, decision: 'denied' },
    reason: 'The person would rather not say. Decide by yourself, and go on.'
  })
  const link = { ...unbound, shown: undefined, type: 'link' as const, url: 'https://pears.example' }
  t.strictSame(questionParams(link, {}, 'Phone'), { id: 'q', approved: true, decision: 'approved', answers: {}, answeredBy: 'Phone' })
})
