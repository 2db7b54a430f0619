import t from 'tap'
import { session as words } from '../../../../web/words/session.ts'

t.test('an answer given at the computer is shown as given in the terminal, not on a device', async t => {
  t.equal(words.outcome.denied.other('the terminal'), 'Denied in the terminal')
  t.equal(words.outcome['allowed-once'].other('Tablet'), 'Allowed once on Tablet')
  t.equal(words.answeredOn('the terminal'), 'Answered in the terminal')
})
