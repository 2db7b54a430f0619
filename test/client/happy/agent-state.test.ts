import t from 'tap'
import { currentAgentState, olderKindOf } from '../../../lib/client/happy/agent-state.ts'

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
  t.end()
})

t.test('a current state is unchanged', t => {
  const state = { requests: {} }
  t.equal(currentAgentState(state), state)
  t.end()
})
