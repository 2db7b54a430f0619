import t from 'tap'
import { seededRandom } from '../crash/random.ts'
import { sampleSeed } from '../kit/seed.ts'
import { judge, lastHeard } from './judge.ts'
import { runRounds, shuffledCuts } from './rounds.ts'

// A small sample of `node build.mjs cuts`. The reset comes last: on a link that died in silence it takes longer to notice.
const { number: seed } = sampleSeed
const cuts = shuffledCuts([1], seededRandom(seed)).toSorted((one, other) => Number(one.way === 'reset') - Number(other.way === 'reset'))

t.test("output of an agent while its link fails in every way arrives once and in order, and so do a phone's requests [W1, W2]", async t => {
  const verdict = await runRounds(t, { data: t.testdir(), cuts, upMs: 300, waitsForBack: false })
  t.comment(`seed ${seed}: ${verdict.said} messages through ${cuts.map(({ way }) => way).join(', ')}`)
  t.match(verdict, { lost: 0, doubled: 0, misplaced: 0, unanswered: 0 }, `seed ${seed}`)
})

t.test('a run that is ended early is judged as far as it went', async t => {
  let rounds = 0
  const verdict = await runRounds(t, {
    data: t.testdir(),
    cuts: [cuts[0], cuts[0]].flatMap(cut => cut ?? []),
    upMs: 300,
    waitsForBack: true,
    goesOn: () => rounds === 0,
    onBack: () => (rounds += 1)
  })
  t.equal(rounds, 1)
  t.ok(verdict.said > 3, `${verdict.said} messages`)
  t.match(verdict, { asked: 0, lost: 0, doubled: 0, misplaced: 0, unanswered: 0 })
})

t.test('lost, duplicated and reordered messages are detected', t => {
  const told = (...texts: string[]) => ({ events: () => texts.map(text => ({ t: 'text' as const, text })) })
  const of = { said: 3, asked: 1 }
  t.match(judge(told('line 1', 'line 2', 'line 3', 'heard 1'), of), { lost: 0, doubled: 0, misplaced: 0, unanswered: 0 })
  t.match(judge(told('line 1', 'line 3', 'heard 1'), of), { lost: 1, doubled: 0, misplaced: 0 })
  t.match(judge(told('line 1', 'line 2', 'line 2', 'line 3'), of), { lost: 0, doubled: 1, misplaced: 0, unanswered: 1 })
  t.equal(lastHeard(told('line 1', 'line 3', 'heard 7')), 3)
  t.match(judge(told('line 1', 'line 3', 'line 2'), of), { lost: 0, doubled: 0, misplaced: 1 })
  t.end()
})
