import type { Question } from '../../../lib/protocol/sealed/decisions/questions.ts'
import type { OpenQuestion } from '../../../web/model/decisions/questions.ts'
import type { SessionModel } from '../../../web/model/session/session.ts'
import { tell } from './fixtures.ts'
import { type Given, model } from './session-model.ts'
import { run } from './transcripts.ts'

const waitingQuestion = { id: 'q1', createdAt: Date.now() - 60_000, title: undefined, call: undefined, shown: 'hq1' }
const store: Question = {
  id: 'store',
  question: 'Which store should hold refresh tokens?',
  multiSelect: false,
  options: [
    { value: 'redis', label: 'Redis, as for sessions', description: 'Already in the stack. Tokens die with a flush.' },
    { value: 'pg', label: 'Postgres, new table', description: 'Survives restarts, one migration, slower revoke.' },
    { value: 'os', label: 'OS keychain on the client', description: 'Most private. Web build keeps cookies.' }
  ],
  allowsOther: true,
  isRequired: true
}
const tests: Question = {
  id: 'tests',
  question: 'Which tests shall I write?',
  multiSelect: true,
  options: [
    { value: 'unit', label: 'Unit tests' },
    { value: 'e2e', label: 'A journey in the browser' }
  ],
  allowsOther: true,
  isRequired: false
}
const asking = (...questions: Question[]): OpenQuestion => ({ ...waitingQuestion, type: 'form', questions })
const codex: Given = {
  facts: { title: 'Move tokens out of cookies', agent: 'Codex', agentShort: 'Codex', host: 'build-box' },
  transcript: tell()
    .mine('Refresh tokens should not sit in a cookie any more. Propose and do it.')
    .turn()
    .say('Two of your choices change how much code moves, so I ask before I start.')
    .done()
}

/** A question in the dock, and the outcome of its answer. */
export const questions: Record<string, () => SessionModel> = {
  question: () => model({ ...codex, questions: [asking(store, tests)] }),
  'question-beside': () => model({ ...codex, questions: [asking(store, tests)], requests: [run('p1', 'npm test')] }),
  'question-unsaid': () => model({ ...codex, questions: [asking(store, tests)] }),
  'question-one': () => model({ ...codex, questions: [asking(store)] }),
  'question-number': () =>
    model({
      ...codex,
      questions: [
        asking({
          id: 'days',
          question: 'How many days should a token live?',
          multiSelect: false,
          options: [],
          allowsOther: true,
          isRequired: true,
          number: { isWhole: true, minimum: 1, maximum: 90 }
        })
      ]
    }),
  'question-sent': () => model({ ...codex, questions: [asking(store)], questionStates: [['q1', { type: 'delivered' }]] }),
  'question-refused': () =>
    model({
      ...codex,
      questions: [asking(store)],
      questionStates: [['q1', { type: 'failed', why: 'failed', says: 'This question is closed.' }]]
    }),
  page: () =>
    model({
      ...codex,
      questions: [
        {
          ...waitingQuestion,
          type: 'link',
          title: 'Sign in to Linear, so that issues can be read',
          url: 'https://linear.app/oauth/authorize?client_id=afield&redirect_uri=https%3A%2F%2Fexample.org%2Fcallback&scope=read'
        }
      ]
    })
}
