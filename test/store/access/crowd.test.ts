import t from 'tap'
import { Crowd } from '../../../lib/store/access/crowd.ts'

function crowdOf(...origins: string[]): Crowd {
  const crowd = new Crowd()
  for (const [index, origin] of origins.entries()) crowd.add(origin, 100 + index)
  return crowd
}

t.test('the oldest row of the fullest network makes room, and nobody who has fewer there [A7]', async t => {
  const rows: [why: string, waiting: string[], newcomer: string, makesRoom: string | undefined][] = [
    ['of one network with more', ['10.0.0.1', '10.0.0.1', '10.1.0.1'], '10.1.0.2', '10.0.0.1'],
    ['for a newcomer that has as many then, not more', ['10.0.0.1', '10.0.0.1', '10.1.0.1'], '10.1.0.1', '10.0.0.1'],
    ['not for one that has as many already', ['10.0.0.1', '10.0.0.1', '10.1.0.1', '10.1.0.1'], '10.1.0.1', undefined],
    ['of equals the one whose oldest ends first', ['10.0.0.1', '10.1.0.1', '10.1.0.1', '10.0.0.1'], '10.2.0.1', '10.0.0.1'],
    ['for a newcomer where each network has one', ['10.0.0.1', '10.1.0.1'], '10.2.0.1', '10.0.0.1'],
    ['within the wide network of the newcomer', ['10.0.0.1', '10.0.0.1', '10.0.1.1'], '10.0.2.1', '10.0.0.1'],
    ['of many origins of one wide network', ['10.0.0.1', '10.0.1.1', '10.0.2.1', '10.1.0.1', '10.1.0.1'], '10.2.0.1', '10.0.0.1'],
    [
      'of IPv6, by its first 32 bits',
      ['2001:0db8:0001:0001::', '2001:0db8:0002:0001::', '2001:0db9:0001:0001::'],
      '2001:0dba:0001:0001::',
      '2001:0db8:0001:0001::'
    ],
    ['nobody where nobody waits', [], '10.0.0.1', undefined]
  ]
  for (const [why, waiting, newcomer, makesRoom] of rows) t.equal(crowdOf(...waiting).fullestBut(newcomer), makesRoom, why)
})

t.test('a row that was removed makes its network smaller and younger', async t => {
  const crowd = crowdOf('10.1.0.1', '10.0.0.1', '10.1.0.1', '10.0.0.1', '10.1.0.1')
  t.same([crowd.count, crowd.countFrom('10.0.0.1'), crowd.countFrom('10.1.0.1'), crowd.countFrom('10.2.0.1')], [5, 2, 3, 0])
  crowd.removeOldest('10.1.0.1')
  t.same([crowd.count, crowd.countFrom('10.1.0.1')], [4, 2])
  t.equal(crowd.fullestBut('10.2.0.1'), '10.0.0.1', 'of equals its oldest ends first now')
  crowd.removeOldest('10.0.0.1')
  crowd.removeOldest('10.0.0.1')
  t.same([crowd.count, crowd.countFrom('10.0.0.1')], [2, 0])
  t.equal(crowd.fullestBut('10.2.0.1'), '10.1.0.1')
})
