import t from 'tap'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import { createNoticeQueue, type KeptNotice, type Notice } from '../../../lib/wrapper/home/notice-queue.ts'

/** A queue whose attempts end as the test decides. */
function queueOf(answer: (notice: Notice) => unknown = () => undefined, kept?: KeptNotice[]) {
  const notes: { notices?: KeptNotice[] } = kept ? { notices: kept } : {}
  const sent: [Notice, string | null][] = []
  const queue = createNoticeQueue({ notes, note: ({ notices }) => Object.assign(notes, { notices }) }, async (notice, ask) => {
    sent.push([notice, ask])
    const end = await answer(notice)
    if (end instanceof Error) throw end
  })
  return { queue, sent, kept: () => notes.notices ?? [] }
}
const refused = (status: number) => new Refused(status, 'no')
const away = () => new Unreachable('network')

t.test('news is sent once, with what is known of its turn, and forgotten', async t => {
  const { queue, sent, kept } = queueOf()
  queue.add({ kind: 'done', ask: null, turnMs: 0, startedFrom: 'phone' })
  const [{ id } = { id: '' }] = kept()
  t.strictSame(kept(), [{ kind: 'done', ask: null, turnMs: 0, startedFrom: 'phone', id, isTried: true, isSent: false, isOver: false }])
  await queue.flush()
  const words = { title: 'Your agent is done', body: 'Open the app to see it.' }
  t.strictSame(sent, [[{ kind: 'done', ...words, noticeId: id, turnMs: 0, startedFrom: 'phone' }, null]])
  t.strictSame(kept(), [])
  queue.add({ kind: 'error', ask: null })
  await queue.flush()
  t.strictSame(Object.keys(sent[1]?.[0] ?? {}), ['kind', 'title', 'body', 'noticeId'])
})

t.test('a notice of a request is kept until the request ends, and then settled under the same id', async t => {
  const { queue, sent, kept } = queueOf()
  queue.add({ kind: 'permission', ask: 'first' })
  await queue.flush()
  t.match(kept(), [{ ask: 'first', isTried: true, isSent: true, isOver: false }])
  await queue.flush()
  queue.keepOpen(['first'])
  await queue.flush()
  t.equal(sent.length, 1, 'nothing more while it is open')
  queue.keepOpen([])
  await queue.flush()
  const words = { title: 'Your agent needs a decision', body: 'Open the app to decide.' }
  const noticeId = sent[0]?.[0].noticeId
  t.strictSame(sent[1], [{ ...words, kind: 'settled', noticeId }, 'first'])
  t.strictSame(kept(), [])
})

t.test('while the server is away, notices wait in order, and those that are needless are dropped', async t => {
  let isAway = true
  const { queue, sent, kept } = queueOf(() => (isAway ? away() : undefined))
  queue.add({ kind: 'question', ask: 'tried' })
  await queue.flush()
  queue.add({ kind: 'done', ask: null })
  queue.add({ kind: 'permission', ask: 'untried' })
  await queue.flush()
  t.equal(sent.length, 2, 'the others wait for the first')
  t.match(
    kept().map(({ isTried }) => isTried),
    [true, false, false]
  )
  queue.keepOpen([])
  t.match(
    kept(),
    [
      { ask: 'tried', isOver: true },
      { kind: 'done', isOver: false }
    ],
    'the phone may have one'
  )
  await queue.flush()
  queue.dropNews()
  t.match(
    kept().map(({ ask }) => ask),
    ['tried']
  )
  isAway = false
  await queue.flush()
  t.match(sent.at(-1), [{ kind: 'settled' }, 'tried'])
  t.strictSame(kept(), [])
})

t.test('a request that ends while its notice is sent is settled after it', async t => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { queue, sent, kept } = queueOf(() => promise)
  queue.add({ kind: 'silent', ask: 'quick' })
  queue.keepOpen([])
  const flushed = queue.flush()
  t.equal(flushed, queue.flush(), 'one at a time')
  resolve()
  await flushed
  t.strictSame(
    sent.map(([{ kind }]) => kind),
    ['silent', 'settled']
  )
  t.strictSame(kept(), [])
})

t.test('what a server rejects for good is dropped, and the next is sent; other errors wait', async t => {
  for (const status of [400, 410, 413]) {
    const { queue, sent, kept } = queueOf(({ kind }) => (kind === 'failed' ? refused(status) : undefined))
    queue.add({ kind: 'failed', ask: null })
    queue.add({ kind: 'done', ask: null })
    await queue.flush()
    t.strictSame([sent.map(([{ kind }]) => kind), kept()], [['failed', 'done'], []], `${status}`)
  }
  for (const error of [...[401, 403, 404, 408, 429].map(refused), away(), new Error('odd')]) {
    const { queue, sent, kept } = queueOf(() => error)
    queue.add({ kind: 'done', ask: null })
    await queue.flush()
    t.equal(sent.length, 1)
    t.match(kept(), [{ isTried: true, isSent: false }], String('status' in error ? error.status : error))
  }
})

t.test('what an earlier process left is sent, and what it sent is not sent again', async t => {
  const left = { kind: 'question', ask: 'one', isTried: true, isSent: false, isOver: false } as const
  const { queue, sent } = queueOf(undefined, [
    { ...left, id: 'sent', isSent: true },
    { ...left, id: 'open' },
    { ...left, id: 'over', isSent: true, isOver: true }
  ])
  await queue.flush()
  t.strictSame(
    sent.map(([{ noticeId, kind }]) => [noticeId, kind]),
    [
      ['open', 'question'],
      ['over', 'settled']
    ]
  )
})
