import t from 'tap'
import { session as words } from '../../../web/words/session.ts'

t.test('what was answered at the computer itself is said to be answered in the terminal, not on a device', async t => {
  t.equal(words.outcome.denied.other('the terminal'), 'Denied in the terminal')
  t.equal(words.outcome['allowed-once'].other('Tablet'), 'Allowed once on Tablet')
  t.equal(words.answeredOn('the terminal'), 'Answered in the terminal')
})
