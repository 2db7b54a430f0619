import { join } from 'node:path'
import t from 'tap'
import { sampleSeed } from '../kit/seed.ts'
import { findFaultPoints, killAt, straceProblem } from './fault-points.ts'
import { seededRandom } from './random.ts'
import { type Report, runRounds } from './rounds.ts'

// A small sample of `node build.mjs crash`.
const { number: seed } = sampleSeed
const answerEarly = ['--import', join(import.meta.dirname, 'answer-early.mjs')]

function show({ rounds, stored, answered, seenLive, seenInPages }: Report): string {
  return `seed ${seed}: ${rounds} rounds, ${stored} messages on disk, ${answered} answers, ${seenLive} seen live, ${seenInPages} read`
}

t.test('killed four times under load, the server keeps every promise [D1, D3, O1, X1]', async t => {
  const report = await runRounds({ data: t.testdir(), rounds: 4, seed })
  t.comment(show(report))
  t.same(report.complaints, [], show(report))
  t.equal(report.rounds, 4)
  t.ok(report.answered > 0 && report.seenLive > 0 && report.seenInPages > 0, 'there was load, and it was watched')
})

t.test('a server that answers before its commit is caught', async t => {
  const report = await runRounds({ data: t.testdir(), rounds: 10, seed, nodeArgs: answerEarly })
  t.comment(`${show(report)}; ${report.complaints.length} promises broken, the first: ${report.complaints[0]}`)
  t.match(report.complaints.join('\n'), /was promised and is lost/)
})

t.test('killed during any write, the server has all of it or none [D4]', { skip: straceProblem() ?? false }, async t => {
  const points = await findFaultPoints()
  const random = seededRandom(seed)
  const sample = Array.from({ length: 4 }, () => random.pick(points))
  for (const point of sample)
    t.same((await killAt(point)).complaints, [], `${point.call} ${point.k} of ${points.length} points, seed ${seed}`)
})
