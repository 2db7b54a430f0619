import t from 'tap'
import { currentAgentState, olderKindOf, olderParams } from '../../../lib/client/happy/agent-state.ts'

const colour = { id: 'c', question: 'Which colour?', multiSelect: false, options: [], allowsOther: true, isRequired: true }

t.test('a question stored separately is listed with the requests, and what cannot be shown is not a permission', t => {
  const { requests, completedRequests, ...rest } = currentAgentState({
    controlledByUser: false,
    requests: { p: { tool: 'Bash', arguments: {}, createdAt: 1 } },
    communications: {
      q: { kind: 'form', createdAt: 2, shown: 'h', form: { questions: [colour] } },
      link: { kind: 'link', createdAt: 3, url: 'https://a.example' },
      empty: { kind: 'form', createdAt: 4 }
    }
  })
  t.same(Object.keys(requests ?? {}), ['p', 'q', 'link'])
  t.match(requests?.['q'], { tool: 'AskUserQuestion', shown: 'h', form: { questions: [{ id: 'c' }] } })
  t.match(requests?.['link'], { tool: 'AskUserQuestion', createdAt: 3, url: 'https://a.example' })
  t.same([requests?.['q']?.arguments, requests?.['link']?.arguments], [{}, {}], 'as of any request')
  t.same(
    Object.values(requests ?? {}).map(request => olderKindOf(request)),
    [undefined, 'form', 'link']
  )
  t.same([rest, completedRequests], [{ controlledByUser: false }, {}])
  t.end()
})

t.test('its outcome is reported like any other: answered, left to the agent, or over', t => {
  const over = { kind: 'form', createdAt: 1, completedAt: 2, form: { questions: [colour] } }
  const { completedRequests } = currentAgentState({
    completedCommunications: {
      said: { ...over, status: 'answered', answers: { c: { options: ['Green'], custom: 'dark' } }, answeredBy: 'Phone' },
      left: { ...over, status: 'cancelled', answeredBy: 'Phone' },
      ended: { ...over, status: 'cancelled' }
    }
  })
  t.match(completedRequests, {
    said: { status: 'approved', title: 'Which colour?', answers: { '': 'Green, dark' } },
    left: { status: 'denied' },
    ended: { status: 'canceled' }
  })
  t.same(
    Object.values(completedRequests ?? {}).map(each => [each.tool, each.arguments]),
    Array(3).fill(['AskUserQuestion', {}]),
    'as of any request'
  )
  t.end()
})

t.test('a current state is unchanged', t => {
  const state = { requests: {} }
  t.equal(currentAgentState(state), state)
  t.end()
})

t.test('an answer is told in the words of both formats: labels, values and own text', t => {
  const flavor = { ...colour, id: 'f', options: [{ value: 'v', label: 'Vanilla' }] }
  const said = (answers: Record<string, unknown>) => {
    const answered = {
      kind: 'form',
      createdAt: 1,
      completedAt: 2,
      status: 'answered' as const,
      form: { questions: [colour, flavor] },
      answers
    }
    return currentAgentState({ completedCommunications: { q: answered } }).completedRequests?.['q']?.['answers']
  }
  const cases: [answers: Record<string, unknown>, text: string][] = [
    [{ f: { values: ['v', 'w'] } }, 'Vanilla, w'],
    [{ f: { values: ['v'], options: ['w'], other: 'and', custom: 'or' } }, 'Vanilla, and'],
    [{ f: { values: 'v', options: ['v', 5], other: '', custom: 'own' } }, 'Vanilla, own'],
    [{ c: { options: ['Green'] }, f: { options: [] }, unasked: { values: ['x'] } }, 'Green; x'],
    [{ c: 'Green', f: null }, ''],
    [{}, '']
  ]
  for (const [answers, text] of cases) t.strictSame(said(answers), { '': text }, JSON.stringify(answers))
  t.end()
})

t.test('an answer for an older wrapper is in its format', t => {
  const answers = { c: { values: ['Green'] } }
  const form = { id: 'q', type: 'form' as const, shown: 'h', olderKind: 'poll' }
  t.strictSame(olderParams(form, answers, 'Phone'), { id: 'q', kind: 'poll', status: 'answered', answers, shown: 'h', answeredBy: 'Phone' })
  t.strictSame(olderParams(form, undefined, undefined), { id: 'q', kind: 'poll', status: 'cancelled', shown: 'h' })
  t.strictSame(olderParams({ id: 'q', type: 'link', shown: undefined }, {}, undefined), { id: 'q', kind: 'link', status: 'answered' })
  t.end()
})
