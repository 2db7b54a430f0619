import t from 'tap'
import { sampleSeed } from '../kit/seed.ts'
import { fuzz, megabytes } from './campaign.ts'

// A small sample of `npm run fuzz`.
const { number: seed } = sampleSeed

t.test('ten seconds of random input crash nothing, and no answer is a server bug [N1, N3]', async t => {
  const { inputs, findings, memory } = await fuzz({ data: t.testdir(), seconds: 10, seed })
  t.comment(`seed ${seed}: ${inputs} inputs, ${memory.map(megabytes).join(' ')}`)
  t.same(findings, [], `seed ${seed}`)
  t.ok(inputs > 100, `${inputs} inputs`)
})
