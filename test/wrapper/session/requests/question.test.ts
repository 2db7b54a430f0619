import t from 'tap'
import type { Question } from '../../../../lib/protocol/sealed/decisions/questions.ts'
import type { QuestionAsk } from '../../../../lib/wrapper/agents/agent.ts'
import { answersIn, completedQuestion, requestOfQuestion } from '../../../../lib/wrapper/session/requests/question.ts'

const colour: Question = {
  id: 'colour',
  question: 'Which colour?',
  multiSelect: false,
  options: [
    { value: 'r', label: 'Red' },
    { value: 'b', label: 'Blue' }
  ],
  allowsOther: false,
  isRequired: true
}
const formOf = (...questions: Question[]): QuestionAsk => ({ ask: 'a', title: 'Choose', kind: 'form', questions })
const page: QuestionAsk = { ask: 'a', title: 'Sign in', kind: 'link', url: 'https://x.example' }
const how = { status: 'approved', completedAt: 2 } as const
const yes = { id: 'a', approved: true }
const answer = (values: string[], other?: string) => ({ ...yes, answers: { colour: { values, ...(other !== undefined && { other }) } } })

t.test('an answer names options of the question, one unless several are allowed', async t => {
  t.same(answersIn(answer(['r']), formOf(colour)), { colour: { values: ['r'] } })
  t.throws(() => answersIn(answer(['r', 'x']), formOf({ ...colour, multiSelect: true })), {
    message: '“Which colour?” has no such answer.'
  })
  t.throws(() => answersIn(answer(['r', 'b']), formOf(colour)), { message: 'Choose one answer to “Which colour?”.' })
  t.same(answersIn(answer(['r', 'b']), formOf({ ...colour, multiSelect: true })), { colour: { values: ['r', 'b'] } })
})

t.test('own words are an answer where the question accepts them, and blanks are none', async t => {
  const open = { ...colour, allowsOther: true }
  t.same(answersIn(answer([], ' green '), formOf(open)), { colour: { values: [], other: 'green' } })
  t.same(answersIn(answer(['r'], ' '), formOf(colour)), { colour: { values: ['r'] } })
  const refused = { message: '“Which colour?” does not accept an answer in your own words.' }
  t.throws(() => answersIn(answer(['r'], 'green'), formOf(colour)), refused)
  t.throws(() => answersIn(answer([], ' '), formOf(open)), { message: '“Which colour?” needs an answer.' })
})

t.test('a question may be left out unless it is required', async t => {
  const none = { ...yes, answers: {} }
  t.throws(() => answersIn(none, formOf(colour)), { message: '“Which colour?” needs an answer.' })
  t.same(answersIn(none, formOf({ ...colour, isRequired: false })), {})
})

t.test('an existing app answers with labels, and yes or no is no answer', async t => {
  const said = (answers: object) => ({ ...yes, updatedInput: { answers } })
  t.same(answersIn(said({ 'Which colour?': 'Blue' }), formOf(colour)), { colour: { values: ['b'] } })
  t.equal(answersIn(said({ 'Which colour?': 'No answer' }), formOf(colour)), undefined)
  t.throws(() => answersIn(said({ 'Which colour?': 'Mauve' }), formOf(colour)), /own words/)
  t.throws(() => answersIn(yes, formOf(colour)), { message: 'This is a question: choose an answer instead of yes or no.' })
})

t.test('a page counts as opened only if the person says so', async t => {
  const text = 'Sign in\n\nhttps://x.example'
  const said = (label: string) => answersIn({ ...yes, updatedInput: { answers: { [text]: label } } }, page)
  t.same(said('I opened it'), {})
  t.equal(said('I will not open it'), undefined)
  t.throws(() => answersIn({ ...yes, updatedInput: { answers: {} } }, page), /needs an answer/)
  t.throws(() => said('Later'), /own words/)
  t.same(answersIn({ ...yes, answers: {} }, page), {}, 'our apps have a button for it')
})

t.test('a request names its step only if the session shows a form there, and its mark covers all that is shown', async t => {
  const asked = { ...formOf(colour), call: 'c' }
  t.match(requestOfQuestion(asked, true, 1), { call: 'c', toolUseId: 'c', form: { questions: [colour] } })
  const apart = requestOfQuestion(asked, false, 1)
  t.equal(apart.call, 'c')
  t.notOk('toolUseId' in apart)
  const alone = requestOfQuestion(page, true, 1)
  t.notOk('call' in alone || 'toolUseId' in alone || 'form' in alone)
  t.equal(alone.url, 'https://x.example')
  const marks = [
    asked,
    { ...asked, title: 'Other' },
    formOf({ ...colour, question: 'Which?' }),
    page,
    { ...page, url: 'https://y.example' }
  ]
  t.equal(new Set(marks.map(each => requestOfQuestion(each, false, 1).shown)).size, marks.length)
})

t.test('an answered question keeps its input with the answers, up to 4000 characters', async t => {
  const completed = (question: Question) => {
    const asked = formOf(question)
    return completedQuestion(asked, requestOfQuestion(asked, false, 1), how, { colour: { values: ['r'] } })
  }
  const kept = completed(colour)
  t.same((kept.arguments as { answers: object }).answers, { 'Which colour?': 'Red' })
  t.same(kept.answers, { 'Which colour?': 'Red' })
  const spare = 4000 - JSON.stringify(kept.arguments).length
  const longer = (characters: number) => {
    const [red, blue] = colour.options
    return { ...colour, options: [red, { ...blue, description: 'x'.repeat(characters) }] } as Question
  }
  t.equal(JSON.stringify(completed(longer(spare)).arguments).length, 4000)
  t.same(completed(longer(spare + 1)).arguments, {})
  t.same(completed(longer(spare + 1)).answers, { 'Which colour?': 'Red' })
})

t.test('a long title, question and answer are kept shortened', async t => {
  const question = { ...colour, question: 'q'.repeat(501), allowsOther: true }
  const asked: QuestionAsk = { ...formOf(question), title: 't'.repeat(501) }
  const given = { colour: { values: [], other: 'a'.repeat(2001) } }
  const { title, answers } = completedQuestion(asked, requestOfQuestion(asked, false, 1), how, given)
  const rest = '\n… 1 more characters: see the rest on the computer.'
  t.equal(title, `${'t'.repeat(500)}${rest}`)
  t.same(answers, { [`${'q'.repeat(500)}${rest}`]: `${'a'.repeat(2000)}${rest}` })
})

t.test('one that was not answered keeps what was asked, and an opened page that it was', async t => {
  const closed = completedQuestion(page, requestOfQuestion(page, false, 1), { ...how, status: 'canceled' })
  t.notOk('answers' in closed || 'call' in closed || 'toolUseId' in closed)
  const opened = completedQuestion(page, { ...requestOfQuestion(page, false, 1), call: 'c', toolUseId: 'd' }, how, {})
  t.match(opened, { call: 'c', toolUseId: 'd', answers: { 'Sign in\n\nhttps://x.example': 'I opened it' } })
})
