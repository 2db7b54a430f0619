import t from 'tap'
import type { Question } from '../../../../lib/protocol/sealed/questions.ts'
import type { AgentState } from '../../../../lib/protocol/sealed/session.ts'
import type { QuestionAsk } from '../../../../lib/wrapper/agents/agent.ts'
import { cancelAll } from '../../../../lib/wrapper/session/requests/decisions.ts'
import { cancelQuestions, createQuestions } from '../../../../lib/wrapper/session/requests/questions.ts'

const asked: QuestionAsk = {
  ask: 'q',
  call: 'step-1',
  title: 'About the gate',
  kind: 'form',
  questions: [
    {
      id: 'colour',
      question: 'Which colour?',
      multiSelect: false,
      options: [
        { value: 'g', label: 'Green' },
        { value: 'r', label: 'Red' }
      ],
      allowsOther: true,
      isRequired: true
    },
    {
      id: 'tools',
      question: 'Which tools?',
      multiSelect: true,
      options: [{ value: 'oil', label: 'Oil' }],
      allowsOther: false,
      isRequired: false
    }
  ]
}

function desk() {
  let state: AgentState = { controlledByUser: false }
  let time = 1000
  const questions = createQuestions(
    change => (state = change(state)),
    () => time++
  )
  return {
    questions,
    get state() {
      return state
    }
  }
}

const yes = { id: 'q', approved: true }
const no = { id: 'q', approved: false }
/** As Happy's apps answer: by the texts of the questions and the labels of the options. */
const said = (answers: Record<string, string>) => ({ ...yes, decision: 'approved' as const, updatedInput: { answers } })

t.test('a question is a request as Claude Code asks it, with all of its form beside that', t => {
  const now = desk()
  now.questions.ask(asked)
  t.match(now.state.requests?.['q'], {
    tool: 'AskUserQuestion',
    title: 'About the gate',
    call: 'step-1',
    shown: /^[\w-]{43}$/,
    form: { questions: asked.kind === 'form' ? asked.questions : [] }
  })
  t.strictSame(now.state.requests?.['q']?.arguments, {
    questions: [
      {
        question: 'Which colour?',
        header: 'Question',
        multiSelect: false,
        options: [
          { label: 'Green', description: '' },
          { label: 'Red', description: '' }
        ]
      },
      {
        question: 'Which tools?',
        header: 'Question',
        multiSelect: true,
        options: [
          { label: 'Oil', description: '' },
          { label: 'No answer', description: '' }
        ]
      }
    ]
  })
  t.equal(now.state.communications, undefined, "which Happy's app does not survive")
  t.notOk(now.state.requests?.['q']?.toolUseId, 'it is joined to no step that apps draw otherwise')
  now.questions.ask({ ...asked, ask: 'q2' }, true)
  t.equal(now.state.requests?.['q2']?.toolUseId, 'step-1')
  t.strictSame(now.questions.open, [
    { ask: 'q', title: 'About the gate' },
    { ask: 'q2', title: 'About the gate' }
  ])
  t.end()
})

t.test('an answer that does not fit is refused, and the question still waits', t => {
  const now = desk()
  now.questions.ask(asked)
  const cases = [
    [{ colour: { values: ['g', 'r'] } }, /Choose one/],
    [{ colour: { values: ['blue'] } }, /no such answer/],
    [{ tools: { values: ['oil'] } }, /“Which colour\?” needs an answer/],
    [{ colour: { values: ['g'] }, tools: { values: [], other: 'a saw' } }, /no words of your own/],
    [{ colour: { values: [], other: '  ' } }, /needs an answer/]
  ] as const
  for (const [answers, says] of cases) {
    const given = Object.fromEntries(Object.entries(answers).map(([id, { values, ...rest }]) => [id, { values: [...values], ...rest }]))
    t.throws(() => now.questions.answer({ ...yes, answers: given }, () => t.fail('it was given')), says)
  }
  t.throws(() => now.questions.answer({ ...yes, answers: {}, shown: 'another' }, () => true), /changed/)
  t.throws(() => now.questions.answer(yes, () => t.fail('it was given')), /not only yes or no/, 'a bare yes says nothing')
  t.throws(() => now.questions.answer(said({ 'Which tools?': 'Oil' }), () => t.fail('it was given')), /needs an answer/)
  const refusing = () => {
    throw new Error('the driver wants a number')
  }
  t.throws(() => now.questions.answer({ ...yes, answers: { colour: { values: ['g'] } } }, refusing), /wants a number/)
  t.equal(now.questions.open.length, 1)
  t.end()
})

t.test('an answer counts once, whoever gives it', t => {
  const now = desk()
  now.questions.ask(asked)
  const given: unknown[] = []
  const give = (answers: unknown) => given.push(answers) > 0
  now.questions.answer({ ...yes, answers: { colour: { values: ['r'], other: 'dark' }, tools: { values: ['oil'] } } }, give)
  t.strictSame(given, [{ colour: { values: ['r'], other: 'dark' }, tools: { values: ['oil'] } }])
  t.throws(() => now.questions.answer(no, give), /This question is over\./)
  const answers = { 'Which colour?': 'Red, dark', 'Which tools?': 'Oil' }
  t.match(now.state, { requests: {}, completedRequests: { q: { status: 'approved', answers, arguments: { answers } } } })

  now.questions.ask({ ...asked, ask: 'q2' })
  now.questions.close('q2', { colour: { values: ['g'] } })
  t.match(now.state.completedRequests?.['q2'], {
    status: 'approved',
    answeredBy: 'the terminal',
    answers: { 'Which colour?': 'Green' }
  })
  now.questions.close('q2')
  t.match(now.state.completedRequests?.['q2'], { status: 'approved' })
  t.end()
})

t.test("what Happy's apps answer is read by the labels they show", t => {
  const options = [
    { value: 'a', label: 'Oil, linseed' },
    { value: 'b', label: 'Oil' },
    { value: 'c', label: 'Oil' }
  ]
  const questions: Question[] = [
    { id: 'many', question: 'Which?', multiSelect: true, options, allowsOther: true, isRequired: false },
    { id: 'same', question: 'Which?', multiSelect: false, options, allowsOther: true, isRequired: false },
    { id: 'words', question: 'How many days?', multiSelect: false, options: [], allowsOther: true, isRequired: true }
  ]
  const cases = [
    [
      { 'Which?': 'Oil, linseed, Oil', 'How many days?': '2' },
      { many: { values: ['a', 'b'] }, words: { values: [], other: '2' } }
    ],
    [
      { 'Which? (2)': 'Oil (2)', 'How many days?': '2' },
      { same: { values: ['c'] }, words: { values: [], other: '2' } }
    ],
    [
      { 'Which?': 'Oil, a saw', 'How many days?': '2' },
      { many: { values: ['b'], other: 'a saw' }, words: { values: [], other: '2' } }
    ],
    [
      { 'Which?': 'No answer', 'Which? (2)': 'Tar', 'How many days?': '2' },
      { same: { values: [], other: 'Tar' }, words: { values: [], other: '2' } }
    ],
    [{ 'Which?': 'Oil', 'How many days?': 'No answer' }, undefined]
  ] as const
  for (const [answers, expected] of cases) {
    const now = desk()
    now.questions.ask({ ...asked, kind: 'form', questions })
    now.questions.answer(said({ ...answers }), given => {
      t.strictSame(given, expected)
      return true
    })
    t.equal(now.state.completedRequests?.['q']?.status, expected ? 'approved' : 'denied')
  }
  t.end()
})

t.test('a page to open is a question whether it was opened', t => {
  const page: QuestionAsk = { ask: 'q', title: 'Sign in', kind: 'link', url: 'https://example.org/' }
  const cases = [
    [said({ 'Sign in\n\nhttps://example.org/': 'I opened it' }), {}],
    [said({ 'Sign in\n\nhttps://example.org/': 'I will not open it' }), undefined],
    [{ ...yes, answers: {} }, {}],
    [no, undefined]
  ] as const
  for (const [answer, expected] of cases) {
    const now = desk()
    now.questions.ask(page)
    t.match(now.state.requests?.['q'], { url: 'https://example.org/', arguments: { questions: [{ options: [{}, {}] }] } })
    now.questions.answer(answer, given => {
      t.strictSame(given, expected)
      return true
    })
    t.equal(now.state.completedRequests?.['q']?.status, expected ? 'approved' : 'denied')
  }
  t.end()
})

t.test('a question that the agent gave up meanwhile is over for who answers it', t => {
  const now = desk()
  now.questions.ask(asked)
  t.throws(() => now.questions.answer(no, () => false), /over/)
  t.match(now.state, { requests: {}, completedRequests: { q: { status: 'canceled' } } })
  t.end()
})

t.test('questions of a wrapper that is gone are cancelled, and old ones do not pile up', t => {
  const now = desk()
  now.questions.ask(asked)
  t.match(cancelAll(now.state, 5), { requests: {}, completedRequests: { q: { status: 'canceled', completedAt: 5 } } })
  const older = { communications: { q: { kind: 'form', createdAt: 1, title: 'About the gate' } } }
  t.match(cancelQuestions(older, 5), { communications: {}, completedCommunications: { q: { status: 'cancelled', completedAt: 5 } } })
  for (let n = 0; n < 200; n++) {
    now.questions.ask({ ...asked, ask: `q${n}`, title: 'x'.repeat(300) })
    now.questions.close(`q${n}`)
  }
  t.equal(Object.keys(now.state.completedRequests ?? {}).length, 50)
  t.end()
})

t.test('what was answered at length does not make the state grow for ever', t => {
  const now = desk()
  const long = '山'.repeat(100_000)
  const given: unknown[] = []
  for (let n = 0; n < 60; n++) {
    now.questions.ask({ ...asked, ask: `q${n}`, title: long })
    now.questions.answer({ ...yes, id: `q${n}`, answers: { colour: { values: [], other: long } } }, answers => given.push(answers) > 0)
  }
  t.match(given.at(-1), { colour: { other: long } }, 'the agent has all of it')
  t.ok(JSON.stringify(now.state).length < 300_000)
  t.end()
})
