import { join } from 'node:path'
import t from 'tap'
import { lacks } from '../kit/needs.ts'
import { sampleSeed } from '../kit/seed.ts'
import { type Campaign, type CampaignReport, runCampaign } from './rounds.ts'

// A small sample of `node build.mjs instances`.
const { number: seed } = sampleSeed
const skip = lacks('postgresql') || lacks('redis')

const brokenBy = (control: string) => ['--import', join(import.meta.dirname, `${control}.mjs`)]

function show({ rounds, operations, maybe, messages, seenLive, complaints }: CampaignReport): string {
  return `seed ${seed}: ${rounds} rounds, ${operations} operations (${maybe} maybe), ${messages} messages, ${seenLive} live; ${complaints[0] ?? 'no complaint'}`
}

const few: Pick<Campaign, 'instances' | 'seed' | 'goesOn'> = { instances: 3, seed, goesOn: ({ rounds }) => rounds < 2 }

t.test(
  'while instances, Redis and PostgreSQL fail, clients that hop between them are promised the same [M1, M2, M3, M4]',
  { skip },
  async t => {
    const report = await runCampaign(t, few)
    t.comment(show(report))
    t.same(report.complaints, [], show(report))
    t.ok(report.messages > 0 && report.versions > 0 && report.seenLive > 0, 'there was load, and it was watched')
  }
)

t.test('numbers that are taken outside the transaction are found', { skip }, async t => {
  const report = await runCampaign(t, { ...few, faults: ['instance drained'], nodeArgs: brokenBy('seq-outside'), patienceMs: 3_000 })
  t.comment(show(report))
  t.match(report.complaints.join('\n'), /a reader at \d+ got \d+ next/)
})

t.test('while Redis is away, what is told later than within five seconds is found [M2]', { skip }, async t => {
  const report = await runCampaign(t, { ...few, goesOn: () => false, faults: ['Redis away'], nodeArgs: brokenBy('late-look') })
  t.comment(show(report))
  t.match(report.complaints.join('\n'), /is known for \d+ s and was not told to the app/)
})

t.test('and otherwise all is told in time, and all requests are answered [M2]', { skip }, async t => {
  const report = await runCampaign(t, { ...few, goesOn: () => false, faults: ['Redis away'] })
  t.comment(show(report))
  t.same(report.complaints, [], show(report))
  t.ok(report.messages > 0 && report.seenLive > 0)
})

t.test('a bus that does not say what it lost is found', { skip }, async t => {
  const report = await runCampaign(t, {
    ...few,
    goesOn: ({ rounds }) => rounds < 10,
    faults: ['Redis killed'],
    nodeArgs: brokenBy('silent-bus'),
    patienceMs: 3_000
  })
  t.comment(show(report))
  t.match(report.complaints.join('\n'), /a connection that stays open was not told more than/)
})
