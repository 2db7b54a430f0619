import t from 'tap'
import { home, updateHome } from '../../../../web/model/home.ts'
import { closeAnswered, closeNotice, closeOfSession } from '../../../../web/model/notifications/open-notifications.ts'
import { emptyHome, type SessionView } from '../../../../web/model/store.ts'
import { sessionRow } from '../../kit/session-row.ts'

/** A browser that shows a notification for each of these. */
function showing(...all: ({ notice?: string; kind?: string; session?: string } | null)[]) {
  const closed: number[] = []
  const registration = {
    async getNotifications(filter?: { tag: string }) {
      const shown = all.map((data, index) => ({ data, close: () => void closed.push(index) }))
      return filter ? shown.filter(({ data }) => data?.session === filter.tag) : shown
    }
  }
  return { registration, closed }
}

t.test('a notice that is over is closed, and no other', async t => {
  const { registration, closed } = showing({ notice: 'n1' }, { notice: 'n2' }, null, {})
  await closeNotice(registration, 'n2')
  t.same(closed, [1])
})

t.test('a session on screen has no notifications', async t => {
  const { registration, closed } = showing({ session: 's1' }, { session: 's2' }, { session: 's1' }, null)
  await closeOfSession(registration, 's1')
  t.same(closed, [0, 2])
})

t.test('a decision answered elsewhere is closed, and one that may still be open stays', async t => {
  const request = { tool: 'Bash', arguments: {}, createdAt: 1 }
  const asked = {
    tool: 'AskUserQuestion',
    arguments: { questions: [{ question: 'Which?', header: 'Tree', options: [], multiSelect: false }] }
  }
  const states: Record<string, SessionView['agentState']> = {
    answered: { requests: {} },
    unwritten: null,
    unreadable: undefined,
    waiting: { requests: { p1: request } },
    asking: { requests: { q1: { ...request, ...asked } } }
  }
  const sessions = new Map(
    Object.entries(states).map(([id, agentState]) => [id, { ...sessionRow, id, agentState, metadata: undefined, last: undefined }])
  )
  updateHome({ type: 'restored', home: { ...emptyHome, sessions } })
  t.equal(home.peek().sessions.size, 5)

  for (const [kind, expected] of [
    ['permission', ['answered', 'unwritten']],
    ['question', ['answered', 'unwritten']],
    ['done', []],
    [undefined, []]
  ] as const) {
    const ids = [...Object.keys(states), 'unknown', undefined]
    const { registration, closed } = showing(...ids.map(session => ({ ...(kind && { kind }), ...(session && { session }) })), null)
    await closeAnswered(registration)
    t.same(
      closed.map(index => ids[index]),
      expected,
      kind ?? 'no kind'
    )
  }
})
