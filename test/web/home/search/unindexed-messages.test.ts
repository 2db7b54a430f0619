import t from 'tap'
import { sealed } from '../../../../lib/protocol/wire/ids.ts'
import type { MessageRecord } from '../../../../lib/protocol/wire/records.ts'
import * as v from '../../../../lib/schema.ts'
import { type ReadPlace, unindexedPages } from '../../../../web/home/search/unindexed-messages.ts'

const farOn = 27_000_000
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

t.test('the first read of a session returns its newest messages, also those before skipped numbers', async t => {
  const server = serverWith([...range(1, 240), ...range(farOn, farOn + 9)])
  const { seqs, isAnew } = await read(server, undefined, farOn + 9)
  t.same(seqs, [...range(1, 240), ...range(farOn, farOn + 9)])
  t.ok(isAnew)

  const long = await read(serverWith(range(1, 1000)), undefined, 1000)
  t.same(long.seqs, range(701, 1000), 'and no more than the limit')
})

t.test('new messages are read from where reading stopped, across skipped numbers', async t => {
  const server = serverWith([...range(1, 50), ...range(farOn, farOn + 250)])
  const { seqs, isAnew } = await read(server, { upTo: 40, at: 40 }, farOn + 250)
  t.same(seqs, [...range(41, 50), ...range(farOn, farOn + 250)])
  t.notOk(isAnew)
})

t.test('when the number is now another message, or none, it is read from the start', async t => {
  const all = [...range(1, 30), ...range(farOn, farOn + 2)]
  for (const place of [
    { upTo: 20, at: 7 },
    { upTo: 45, at: 45 },
    { upTo: 2 * farOn, at: 9 },
    { upTo: 0, at: 0 }
  ]) {
    const { seqs, isAnew } = await read(serverWith(all), place, farOn + 2)
    t.same(seqs, all)
    t.ok(isAnew)
  }
})

t.test('when everything is read no request is made', async t => {
  const server = serverWith(range(1, 30))
  t.same((await read(server, { upTo: 30, at: 30 }, 30)).seqs, [])
  t.same((await read(server, undefined, 0)).seqs, [])
  t.equal(server.asked, 0)
})

/** Messages stored with these numbers, and times that follow from them. */
function serverWith(seqs: readonly number[]) {
  const messages = seqs.map(seq => ({
    id: `${seq}`,
    seq,
    localId: null,
    createdAt: seq,
    updatedAt: seq,
    content: { t: 'encrypted', c: v.parse(sealed, 'x') }
  }))
  const server = {
    asked: 0,
    ask: async (query: { after_seq: number; limit: number } | { before_seq: number; limit: number }) => {
      server.asked++
      const found =
        'after_seq' in query
          ? messages.filter(({ seq }) => seq > query.after_seq)
          : messages.filter(({ seq }) => seq < query.before_seq).toReversed()
      return { messages: found.slice(0, query.limit) as MessageRecord[], hasMore: found.length > query.limit }
    }
  }
  return server
}

async function read(server: ReturnType<typeof serverWith>, place: ReadPlace | undefined, seq: number) {
  const seqs: number[] = []
  let isAnew = false
  for await (const page of unindexedPages(server.ask, place, seq)) {
    isAnew ||= page.isAnew
    seqs.push(...page.messages.map(message => message.seq))
  }
  return { seqs, isAnew }
}
