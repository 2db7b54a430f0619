import t from 'tap'
import type { AgentState } from '../../lib/protocol/sealed/session.ts'
import type { QuestionAsk } from '../../lib/wrapper/agents/agent.ts'
import { cancelQuestions, createQuestions } from '../../lib/wrapper/questions.ts'

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

const answer = { id: 'q', kind: 'form', status: 'answered' as const }

t.test('a question shows what existing apps need as well, and a hash of it', t => {
  const now = desk()
  now.questions.ask(asked)
  t.match(now.state.communications?.['q'], {
    kind: 'form',
    toolUseId: 'step-1',
    title: 'About the gate',
    shown: /^[\w-]{43}$/,
    form: {
      questions: [
        { header: 'Question', allowCustom: true, required: true },
        { allowCustom: false, required: false }
      ]
    }
  })
  t.strictSame(now.questions.open, [{ ask: 'q', title: 'About the gate' }])
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
    t.throws(() => now.questions.answer({ ...answer, answers: given }, () => t.fail('it was given')), says)
  }
  t.throws(() => now.questions.answer({ ...answer, shown: 'another' }, () => true), /changed/)
  const refusing = () => {
    throw new Error('the driver wants a number')
  }
  t.throws(() => now.questions.answer({ ...answer, answers: { colour: { values: ['g'] } } }, refusing), /wants a number/)
  t.equal(now.questions.open.length, 1)
  t.end()
})

t.test('an answer counts once, whoever gives it', t => {
  const now = desk()
  now.questions.ask(asked)
  const given: unknown[] = []
  const give = (answers: unknown) => given.push(answers) > 0
  now.questions.answer({ ...answer, answers: { colour: { options: ['Red'], custom: 'dark' }, tools: { values: ['oil'] } } }, give)
  t.strictSame(given, [{ colour: { values: ['r'], other: 'dark' }, tools: { values: ['oil'] } }])
  t.throws(() => now.questions.answer({ ...answer, status: 'cancelled' }, give), /This question is over\./)
  t.match(now.state.completedCommunications?.['q'], {
    status: 'answered',
    answers: { colour: { options: ['Red'], custom: 'dark', values: ['r'] } }
  })

  now.questions.ask({ ...asked, ask: 'q2' })
  now.questions.close('q2', { colour: { values: ['g'] } })
  t.match(now.state.completedCommunications?.['q2'], {
    status: 'answered',
    answeredBy: 'the terminal',
    answers: { colour: { options: ['Green'] } }
  })
  now.questions.close('q2')
  t.match(now.state.completedCommunications?.['q2'], { status: 'answered' })
  t.end()
})

t.test('a question that the agent gave up meanwhile is over for who answers it', t => {
  const now = desk()
  now.questions.ask(asked)
  t.throws(() => now.questions.answer({ ...answer, status: 'cancelled' }, () => false), /over/)
  t.match(now.state, { communications: {}, completedCommunications: { q: { status: 'cancelled' } } })
  t.end()
})

t.test('questions of a wrapper that is gone are cancelled, and old ones do not pile up', t => {
  const now = desk()
  now.questions.ask(asked)
  t.match(cancelQuestions(now.state, 5), { communications: {}, completedCommunications: { q: { status: 'cancelled', completedAt: 5 } } })
  for (let n = 0; n < 200; n++) {
    now.questions.ask({ ...asked, ask: `q${n}`, title: 'x'.repeat(300) })
    now.questions.close(`q${n}`)
  }
  t.equal(Object.keys(now.state.completedCommunications ?? {}).length, 50)
  t.end()
})
