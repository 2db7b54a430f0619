import t from 'tap'
import { sampleSeed } from '../kit/seed.ts'
import { trials } from './trials.ts'

const { number: seed } = sampleSeed

// They mostly wait.
t.jobs = 2

// A small sample of what test/endurance/run.ts does with thousands; two have samples where their subjects have their tests.
for (const [name, { about, sizes, run }] of Object.entries(trials)) {
  if (name === 'cuts' || name === 'ending') continue
  t.test(about, async t => {
    const { told, complaints } = await run(t, { data: t.testdir(), seed, size: sizes.sample })
    t.comment(`seed ${seed}: ${told}`)
    t.same(complaints, [], `seed ${seed}`)
  })
}
