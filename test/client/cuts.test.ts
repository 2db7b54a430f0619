import t from 'tap'
import { sampleSeed } from '../kit/seed.ts'
import { runCuts } from './cuts.ts'
import { startWorld } from './world.ts'

const { number: seed } = sampleSeed

t.test(
  'a subscriber cut off at random bytes twenty times while 1,000 messages are written ends with all of them [S1, S2, B4, O4]',
  async t => {
    const { seen, written, cuts } = await runCuts(t, await startWorld(t), { seed, cuts: 20, messages: 1_000 })
    t.comment(`seed ${seed}: ${cuts} cuts`)
    t.strictSame(seen, written, `seed ${seed}`)
    // One that comes while the line is still away cuts nothing.
    t.ok(cuts >= 10, 'the line was really cut')
  }
)
