import t from 'tap'
import { pointFor } from '../../../../web/model/transcript/fork-point.ts'

const points = [
  { uuid: 'a', text: 'Go on.', timestamp: 1_000 },
  { uuid: 'b', text: 'Look at this\n[image: /tmp/login.png]', timestamp: 50_000 },
  { uuid: 'c', text: 'Go on.', timestamp: 90_000 },
  { uuid: 'd', text: 'Go on. And then tell me.', timestamp: 91_000 }
]

t.test('a fork point is found by its text, and among equal ones by time', async t => {
  t.equal(pointFor({ text: 'Go on.', at: 2_000 }, points)?.uuid, 'a')
  t.equal(pointFor({ text: ' Go  on.\n', at: 95_000 }, points)?.uuid, 'c')
  t.equal(pointFor({ text: 'Look at this', at: 0 }, points)?.uuid, 'b')
  t.equal(pointFor({ text: 'Never said', at: 2_000 }, points), undefined)
  t.equal(pointFor({ text: ' ', at: 2_000 }, points), undefined)
})
