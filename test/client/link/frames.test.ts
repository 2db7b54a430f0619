import t from 'tap'
import { readEphemeral, readUpdate } from '../../../lib/client/link/frames.ts'

t.test('a frame of a kind that is not known is strange, and one that only breaks its own format is bad', t => {
  t.same(readUpdate({ body: { t: 'a-later-kind' } }), { type: 'strange' })
  t.same(readUpdate({ body: { t: 'new-message' } }), { type: 'bad' })
  t.same(readEphemeral({ type: 'a-later-kind' }), { type: 'strange' })
  t.same(readEphemeral({ type: 'activity' }), { type: 'bad' })
  for (const frame of [undefined, null, 7, 'text', {}, { body: {} }, { body: { t: 7 } }, { type: 7 }]) {
    t.same(readUpdate(frame), { type: 'bad' }, JSON.stringify(frame))
    t.same(readEphemeral(frame), { type: 'bad' }, JSON.stringify(frame))
  }
  t.end()
})
