import t from 'tap'
import { isOtherwiseSealed } from '../../../../web/model/session/key-mismatch.ts'
import type { KnownMessage } from '../../../../web/model/transcript/message.ts'

const place = { localId: null, at: 1 }
const said = (by: 'user' | 'agent' | 'closed' | 'strange', seq: number): KnownMessage => {
  switch (by) {
    case 'user':
      return { ...place, seq, body: { role: 'user', content: { type: 'text', text: 'Hello' } } }
    case 'agent':
      return { ...place, seq, body: { role: 'agent', content: { type: 'output', data: {} } } as KnownMessage['body'] }
    case 'closed':
      return { ...place, seq, body: undefined, closed: 'unreadable' }
    case 'strange':
      return { ...place, seq, body: undefined, closed: 'unknown-shape' }
  }
}
const isShut = (...all: Parameters<typeof said>[0][]) => isOtherwiseSealed(all.map(said))

t.test('a session whose newest agent messages do not decrypt has another key, whatever people wrote in between', async t => {
  t.ok(isShut('closed', 'closed', 'closed'))
  t.ok(isShut('user', 'agent', 'closed', 'closed', 'user', 'closed', 'user'))
})

t.test('a corrupt message, or one of an unknown kind, does not close the session', async t => {
  t.notOk(isShut())
  t.notOk(isShut('user'))
  t.notOk(isShut('agent', 'closed', 'closed'))
  t.notOk(isShut('closed', 'closed', 'closed', 'agent'))
  t.notOk(isShut('closed', 'closed', 'closed', 'strange'))
})
