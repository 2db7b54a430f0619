import t from 'tap'
import { hasComeBack } from '../../../../web/model/session/facts.ts'

t.test('a session that was resumed has come back also when it ended again before anybody saw it run', t => {
  t.equal(hasComeBack({ presence: 'here', activeAt: 5 }, 5), true)
  t.equal(hasComeBack({ presence: 'ended', activeAt: 6 }, 5), true)
  t.equal(hasComeBack({ presence: 'ended', activeAt: 5 }, 5), false)
  t.end()
})
