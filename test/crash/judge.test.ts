import t from 'tap'
import { History } from './history.ts'
import { judge, type Stored } from './judge.ts'

const shown = (seq: number, localId = `a.${seq - 1}`, content = `content of ${localId}`) => ({ seq, localId, content })

/** A session in which everything is as it should be. */
function goodSession(count = 3): Stored {
  return { id: 's', lastSeq: count, messages: Array.from({ length: count }, (_, index) => shown(index + 1)) }
}

function promise(count = 3): History {
  const history = new History()
  for (let seq = 1; seq <= count; seq += 1) history.acknowledged('s', shown(seq))
  return history
}

t.test('what was promised and is present is no violation, and more may be present', async t => {
  t.same(judge(promise(), [goodSession()]), [])
  t.same(judge(promise(), [goodSession(5)]), [])
  t.same(judge(new History(), [goodSession()]), [])
})

const broken: [what: string, history: History, stored: Stored[], complaint: RegExp][] = [
  ['a lost session', promise(), [], /the session is gone/],
  ['a lost answer', promise(4), [goodSession(3)], /4 \(a\.3\) was promised and is lost/],
  ['a counter that is ahead', promise(), [{ ...goodSession(), lastSeq: 4 }], /its counter is 4 and it has 3/],
  ['a counter that is behind', promise(), [{ ...goodSession(), lastSeq: 2 }], /its counter is 2 and it has 3/],
  ['a gap', promise(1), [{ id: 's', lastSeq: 2, messages: [shown(1), shown(3, 'a.1')] }], /3 stands where 2 belongs/],
  ['a message that is there twice', promise(1), [{ id: 's', lastSeq: 2, messages: [shown(1), shown(2, 'a.0')] }], /there twice/],
  ['another message under a promised number', promise(1), [{ id: 's', lastSeq: 1, messages: [shown(1, 'b.0')] }], /1 was promised as a\.0/],
  ['another content', promise(1), [{ id: 's', lastSeq: 1, messages: [shown(1, 'a.0', 'x')] }], /has another content/],
  [
    'a writer’s message before an earlier one',
    new History(),
    [{ id: 's', lastSeq: 1, messages: [shown(1, 'a.1')] }],
    /a\.1 came after a\.-1/
  ]
]

for (const [what, history, stored, complaint] of broken) {
  t.test(`${what} is a violation`, async t => {
    t.match(judge(history, stored).join('\n'), complaint)
  })
}

t.test('what was seen live or in a page counts as promised too [D3]', async t => {
  const live = new History()
  live.live('s', shown(1), undefined)
  t.match(judge(live, [{ id: 's', lastSeq: 0, messages: [] }]), [/1 \(a\.0\) was promised and is lost/])
  const paged = new History()
  paged.page('s', [shown(1)], 0)
  t.match(judge(paged, [{ id: 's', lastSeq: 0, messages: [] }]), [/1 \(a\.0\) was promised and is lost/])
})

t.test('what a socket sender got acknowledged is promised by name', async t => {
  const history = new History()
  history.takenIn('s', { localId: 'a.0', content: 'x' })
  t.match(judge(history, [{ id: 's', lastSeq: 0, messages: [] }]), [/a\.0 was promised and is lost/])
})

t.test('contradictory promises are violations in themselves', async t => {
  const twice = new History()
  twice.acknowledged('s', shown(1, 'a.0'))
  twice.live('s', shown(1, 'b.0'), undefined)
  t.match(twice.complaints, [/1 was a\.0 and is now seen live as b\.0/])

  const gap = new History()
  gap.live('s', shown(3), 1)
  gap.page('s', [shown(5)], 3)
  t.match(gap.complaints, [/was told 3 after 1/, /a reader at 3 was given 5 next/])
})
