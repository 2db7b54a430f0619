import t from 'tap'
import '../../web/no-eval.ts'
import { z } from 'zod'

t.test('the validator makes no code from text, as the policy of the page asks', async t => {
  t.equal(z.config().jitless, true)
})
