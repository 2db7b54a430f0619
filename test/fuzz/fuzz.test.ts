import t from 'tap'
import { sampleSeed } from '../kit/seed.ts'
import { fuzz, megabytes } from './campaign.ts'

// A small sample of `npm run fuzz`.
const { number: seed } = sampleSeed

t.test('ten seconds of random input crash nothing, and no answer is a server bug [N1, N3]', async t => {
  const { tally, memory, messages } = await fuzz({ data: t.testdir(), seconds: 10, seed })
  t.comment(`seed ${seed}: ${tally.total} inputs, ${memory.map(megabytes).join(' ')}`)
  t.same(tally.findings, [], `seed ${seed}`)
  // All layers, and enough of each that a handful of refusals cannot stand for them.
  t.equal(tally.inputs.size, 7, [...tally.inputs].join(' '))
  for (const [layer, inputs] of tally.inputs) t.ok(inputs > 20, `${inputs} ${layer}`)
  t.ok(messages > 5, `${messages} messages of somebody else`)
})
