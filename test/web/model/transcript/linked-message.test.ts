import { signal } from '@preact/signals'
import t from 'tap'
import { readPath } from '../../../../web/core/routes.ts'
import { isGone, linkedMessage } from '../../../../web/model/transcript/linked-message.ts'

const messages = [5, 6, 7].map(seq => ({ seq, localId: null, at: seq, body: undefined }))
const model = (older: 'none' | 'more' | 'loading' | 'failed', feed: 'live' | 'stale' = 'live') => ({
  older: signal(older),
  feed: signal(feed)
})

t.test('a message is reported missing only when everything that could hold it is loaded', async t => {
  t.equal(isGone(6, messages, model('none')), false)
  t.equal(isGone(9, messages, model('none')), true)
  t.equal(isGone(9, messages, model('none', 'stale')), false)
  t.equal(isGone(2, messages, model('more')), false)
  t.equal(isGone(2, messages, model('loading')), false)
  t.equal(isGone(2, messages, model('none')), true)
  t.equal(isGone(Number.NaN, messages, model('more')), true)
  t.equal(isGone(1, [], model('none')), true)
})

t.test('an address names a message by number, or one that does not exist', async t => {
  t.equal(linkedMessage(readPath('/s/abc/m/12')), 12)
  t.equal(linkedMessage(readPath('/s/abc')), undefined)
  t.same(linkedMessage(readPath('/s/abc/m/twelve')), Number.NaN)
})
