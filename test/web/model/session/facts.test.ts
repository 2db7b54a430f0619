import t from 'tap'
import { hasComeBack } from '../../../../web/model/session/facts.ts'

t.test('a resumed session counts as back even if it ended again before anyone saw it run', t => {
  t.equal(hasComeBack({ presence: 'here', activeAt: 5 }, 5), true)
  t.equal(hasComeBack({ presence: 'ended', activeAt: 6 }, 5), true)
  t.equal(hasComeBack({ presence: 'ended', activeAt: 5 }, 5), false)
  t.end()
})
