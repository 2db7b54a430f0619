import t from 'tap'
import { sampleSeed } from '../kit/seed.ts'
import { crowding, runStorm } from './storm.ts'

const { number: seed } = sampleSeed

// A small sample of what test/storm/run.ts does with thousands.
const size = { clients: 30, accounts: 2 }

t.test('after a restart clients reconnect spread over time, without a failed request or a lost message [S5]', async t => {
  const { complaints, messages, backAfterMs } = await runStorm({ data: t.testdir(), ...size, seed })
  t.same(complaints, [], `seed ${seed}`)
  t.ok(messages > 0, `${messages} messages`)
  t.equal(backAfterMs.length, size.clients)
})

t.test('clients that all wait equally long are detected', async t => {
  t.match(crowding(Array.from({ length: 60 }, () => 250)), [/^60 of 60 clients would come back within the same tenth of the time\.$/])
  t.same(crowding(Array.from({ length: 60 }, (_, index) => index * 8)), [])
})
