import t from 'tap'
import { spent } from '../../../../web/session/menu/spent.ts'

t.test('what was read counts what came from the cache and what went into it', t => {
  const step = { input_tokens: 1200, output_tokens: 34 }
  t.strictSame(spent({ usage: undefined }), { tokens: undefined, cost: undefined })
  t.strictSame(spent({ usage: step }), { tokens: '1,200 read, 34 written', cost: undefined })
  t.equal(spent({ usage: { ...step, cache_read_input_tokens: 300, cache_creation_input_tokens: 5 } }).tokens, '1,505 read, 34 written')
  t.match(spent({ usage: { ...step, cost: { amount: 0.4, currency: 'USD' } } }).cost, /^(US)?\$0\.40$/)
  t.equal(spent({ usage: { ...step, cost: { amount: 12, currency: 'credits' } } }).cost, '12 credits')
  t.end()
})
