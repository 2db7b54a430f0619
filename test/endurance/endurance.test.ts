import t from 'tap'
import { sampleOf, sampleSeed } from '../kit/seed.ts'
import { trials } from './trials.ts'

const { number } = sampleSeed

// They mostly wait.
t.jobs = 2

// Two have samples where their subjects have their tests.
const names = Object.keys(trials).filter(name => name !== 'cuts' && name !== 'ending')

// A small sample of what test/endurance/run.ts does with thousands: the shortest of them, or others picked by a seed.
const { seed, sample } = sampleOf(names, 6, { usual: ['frames', 'begun', 'uploads', 'pongs', 'bodies', 'posts'] })

for (const name of sample) {
  const trial = trials[name]
  if (!trial) throw new Error(`There is no trial ${name}.`)
  t.test(trial.about, async t => {
    const { told, complaints } = await trial.run(t, { data: t.testdir(), seed: number, size: trial.sizes.sample })
    t.comment(`seed ${seed}: ${told}`)
    t.same(complaints, [], `seed ${seed}`)
  })
}
