import t from 'tap'
import { nearest } from '../../bin/nearest.ts'

const names = ['serve', 'login', 'logout', 'run', 'demo', 'daemon']
const cases: [typed: string, meant: string | undefined][] = [
  ['sevre', 'serve'],
  ['logn', 'login'],
  ['deamon', 'daemon'],
  ['rn', 'run'],
  ['bogus', undefined],
  ['x', undefined],
  ['', undefined]
]
for (const [typed, meant] of cases) {
  t.test(`"${typed}" suggests ${meant}`, async t => t.equal(nearest(typed, names), meant))
}
