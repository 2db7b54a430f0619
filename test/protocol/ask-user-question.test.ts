import t from 'tap'
import {
  noAnswer,
  readAnswers,
  readQuestions,
  writeAnswers,
  writeQuestions
} from '../../lib/protocol/sealed/decisions/ask-user-question.ts'
import { answerText, type Question, readNumber } from '../../lib/protocol/sealed/decisions/questions.ts'

function question(id: string, labels: readonly string[], more: Partial<Question> = {}): Question {
  const options = labels.map((label, at) => ({ value: `${id}${at}`, label }))
  return { id, question: `${id}?`, multiSelect: false, options, allowsOther: true, isRequired: false, ...more }
}

t.test("the tool's form is read with its texts as ids and its labels as values", t => {
  const questions = [
    { question: 'Which?', header: 'Choice', multiSelect: true, options: [{ label: 'A', description: 'first' }, { label: 'B' }] },
    { question: 'Why?', header: '', options: [{ label: 'C', description: '' }] },
    { question: 'How?' }
  ]
  const rest = { allowsOther: true, isRequired: false }
  t.strictSame(readQuestions({ questions }), [
    {
      id: 'Which?',
      question: 'Which?',
      header: 'Choice',
      multiSelect: true,
      options: [
        { value: 'A', label: 'A', description: 'first' },
        { value: 'B', label: 'B' }
      ],
      ...rest
    },
    { id: 'Why?', question: 'Why?', multiSelect: false, options: [{ value: 'C', label: 'C' }], ...rest },
    { id: 'How?', question: 'How?', multiSelect: false, options: [], ...rest }
  ])
  for (const input of [undefined, {}, { questions: [] }, { questions: [{ header: 'x' }] }, { questions: 'Which?' }])
    t.equal(readQuestions(input), undefined, JSON.stringify(input))
  t.end()
})

t.test('a form is written with distinct texts and labels, and with a way to skip what may be skipped', t => {
  const same = { question: 'Which?', isRequired: true }
  const written = writeQuestions([
    question('a', ['A', 'B', 'A'], { ...same, header: 'Choice', multiSelect: true }),
    question('b', ['C'], { question: 'Which?' }),
    question('c', [], same)
  ])
  const ownWords = 'The agent asks for a free-text answer, which only its terminal and the Afield app accept.'
  const option = (label: string, description = '') => ({ label, description })
  t.strictSame(written.questions, [
    { question: 'Which?', header: 'Choice', multiSelect: true, options: [option('A'), option('B'), option('A (2)')] },
    { question: 'Which? (2)', header: 'Question', multiSelect: false, options: [option('C'), option(noAnswer)] },
    { question: 'Which? (3)', header: 'Question', multiSelect: false, options: [option(noAnswer, ownWords)] }
  ])
  const described = question('d', [], { options: [{ value: 'v', label: 'V', description: 'why' }], isRequired: true })
  t.strictSame(writeQuestions([described]).questions[0]?.options, [option('V', 'why')])
  t.end()
})

t.test("answers are written under the question's text, by labels, with the person's own text last", t => {
  const questions = [question('a', ['A', 'B', 'A'], { multiSelect: true }), question('b', ['C']), question('c', []), question('d', ['D'])]
  t.strictSame(
    writeAnswers(questions, {
      a: { values: ['a2', 'a0'], other: 'and more' },
      b: { values: ['unknown'] },
      c: { values: [], other: 'mine' },
      d: { values: [] }
    }),
    { 'a?': 'A (2), A, and more', 'b?': 'unknown', 'c?': 'mine' }
  )
  t.end()
})

t.test('what was written is read back, also with commas in labels and quoted as at the terminal', t => {
  const questions = [
    question('a', ['A', 'A, or B', 'B'], { multiSelect: true }),
    question('b', ['C', 'D']),
    question('c', [], { isRequired: true })
  ]
  const answers = {
    a: { values: ['a1', 'a0'], other: 'and more' },
    b: { values: ['b1'] },
    c: { values: [], other: 'mine' }
  }
  t.strictSame(readAnswers(questions, { answers: writeAnswers(questions, answers) }), answers)
  const readA = (text: unknown) => readAnswers(questions.slice(0, 1), { answers: { 'a?': text } })
  t.strictSame(readA('"A, or B", B'), { a: { values: ['a1', 'a2'] } })
  t.strictSame(readA(['B', 7, 'A']), { a: { values: ['a2', 'a0'] } })
  t.strictSame(readA(' A '), { a: { values: ['a0'] } })
  t.strictSame(readA(`A, ${noAnswer}`), { a: { values: ['a0'] } })
  t.strictSame(readA('Ab'), { a: { values: [], other: 'Ab' } })
  for (const nothing of ['', '  ', noAnswer, 7, undefined]) t.strictSame(readA(nothing), {}, String(nothing))
  const readB = (text: string) => readAnswers([question('b', ['C', 'D'])], { answers: { 'b?': text } })
  t.strictSame(readB('C, D'), { b: { values: [], other: 'C, D' } }, 'only one can be chosen')
  t.end()
})

t.test('an input without answers has none, and one that skips what is required declines', t => {
  const required = question('a', ['A'], { isRequired: true })
  for (const input of [undefined, {}, { answers: 'A' }]) t.equal(readAnswers([required], input), 'none')
  t.equal(readAnswers([question('b', []), required], { answers: { 'a?': noAnswer, 'b?': 'x' } }), 'declined')
  t.strictSame(readAnswers([required], { answers: {} }), {})
  t.end()
})

t.test('only a number within its limits is read as one', t => {
  const any = { isWhole: false }
  const cases: [text: string, wanted: Parameters<typeof readNumber>[1], number: number | undefined][] = [
    ['1.5', any, 1.5],
    [' -3 ', any, -3],
    ['', any, undefined],
    [' ', any, undefined],
    ['x', any, undefined],
    ['Infinity', any, undefined],
    ['1.5', { isWhole: true }, undefined],
    ['2', { isWhole: true }, 2],
    ['1', { isWhole: true, minimum: 1, maximum: 3 }, 1],
    ['3', { isWhole: true, minimum: 1, maximum: 3 }, 3],
    ['0', { isWhole: true, minimum: 1, maximum: 3 }, undefined],
    ['4', { isWhole: true, minimum: 1, maximum: 3 }, undefined]
  ]
  for (const [text, wanted, number] of cases) t.equal(readNumber(text, wanted), number, `"${text}"`)
  t.end()
})

t.test('an answer is shown by its labels, and its own text', t => {
  const asked = question('a', ['A', 'B'])
  t.equal(answerText(asked, { values: ['a1', 'gone'], other: 'mine' }), 'B, gone, mine')
  t.equal(answerText(asked, { values: ['a0'] }), 'A')
  t.equal(answerText(asked, undefined), '')
  t.end()
})
