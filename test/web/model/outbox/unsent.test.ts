import { signal } from '@preact/signals'
import t from 'tap'
import { unsent, unsentIn } from '../../../../web/model/outbox/unsent.ts'

type Link = Parameters<typeof unsentIn>[0]

/** A device on which these messages, by session, and entries wait. */
function device(sessions: readonly string[], entries: readonly object[] = []): Link {
  const of = (kind: string) => entries.filter(entry => 'kind' in entry && entry.kind === kind)
  return { unsent: signal(sessions.map(session => ({ session }))), queue: { of } } as unknown as Link
}

const start = { kind: 'start', key: 'a', state: { type: 'failed' } }
const reply = (type: string) => ({ kind: 'reply', key: type, state: { type } })

t.test('messages that wait are counted by session, while there is no connection', async t => {
  t.same(unsentIn(device(['s1', 's2', 's1']), true), {
    ...{ starts: [], replies: [] },
    messages: [
      { session: 's1', count: 2 },
      { session: 's2', count: 1 }
    ]
  })
  t.equal(unsentIn(device(['s1']), false), undefined, 'they are sent in a moment')
})

t.test('starts that wait or failed, and answers that wait, are listed in any case', async t => {
  const sent = ['sending', 'delivered', 'failed'].map(reply)
  for (const isOffline of [true, false]) {
    t.same(unsentIn(device([], [start, ...sent, reply('queued')]), isOffline), {
      starts: [start],
      replies: [reply('queued')],
      messages: []
    })
    t.same(unsentIn(device([], [start]), isOffline)?.replies, [])
    t.equal(unsentIn(device([], sent), isOffline), undefined, 'answers on their way are not')
    t.same(unsentIn(device([], [reply('queued')]), isOffline)?.starts, [])
  }
})

t.test('without an account nothing waits', async t => {
  t.equal(unsent.value, undefined)
})
