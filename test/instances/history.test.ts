import t from 'tap'
import { History, type ShownMessage, toldWithinMs } from './history.ts'
import { contentOf, nameOf, textOf } from './names.ts'

const [a0, a1, a2, b0] = [nameOf(1, 0), nameOf(1, 1), nameOf(1, 2), nameOf(2, 0)]
const shown = (seq: number, name: number): ShownMessage => ({ seq, localId: textOf(name), content: contentOf(name) })
const told = (seq: number, name: number) => ({ seq, localId: textOf(name) })

type Telling = (history: History) => void
const session = (history: History) => history.session('s')
const settings = (history: History) => history.settingsOf('a')

/** Everybody has these, which are new, and those that were there at the rest before are forgotten. */
function rest(history: History, ...messages: ShownMessage[]): void {
  for (const message of messages) session(history).steady.take(message)
  session(history).forget()
  settings(history).forget()
}

function audit(history: History, ...messages: ShownMessage[]): void {
  const judge = session(history).audit()
  for (const message of messages) judge.take(message)
  judge.end()
}

t.test('a history without a flaw has no complaint', async t => {
  const history = new History()
  session(history).answered([a0, a1], [told(1, a0), told(2, a1)])
  session(history).page([shown(1, a0), shown(2, a1)], { cursor: 0, more: false, known: 2 })
  session(history).live(shown(2, a1), undefined)
  session(history).live(shown(3, b0), 2)
  session(history).answered([a0, a1], [told(1, a0), told(2, a1)])
  audit(history, shown(1, a0), shown(2, a1), shown(3, b0), shown(4, a2))
  settings(history).won(a0, { expected: 0, version: 1 })
  settings(history).refused(b0)
  settings(history).shown({ version: 1, value: textOf(a0) }, 'read', 1)
  settings(history).audit({ version: 1, value: textOf(a0) })
  t.same(history.complaints, [])
})

const flaws: [what: string, tell: Telling, complaint: RegExp][] = [
  [
    'an acknowledged message that is gone [D1]',
    h => {
      session(h).answered([a0], [told(1, a0)])
      audit(h)
    },
    /1\.0 was acknowledged and is lost/
  ],
  [
    'a message that was seen and is gone [D3]',
    h => {
      session(h).live(shown(1, a0), undefined)
      audit(h)
    },
    /0 messages are there, and 1 had been/
  ],
  [
    'one that a socket was told is stored [D1]',
    h => {
      session(h).takenIn([a0])
      audit(h)
    },
    /1\.0 was acknowledged and is lost/
  ],
  ['a gap in a page [O1]', h => session(h).page([shown(2, a0)], { cursor: 0, more: true, known: 0 }), /a reader at 0 got 2 next/],
  ['an old page [O1]', h => session(h).page([], { cursor: 1, more: false, known: 2 }), /was told that 1 is the last, and 2 had been told/],
  [
    'two messages at one number [O1]',
    h => [a0, b0].forEach(name => void session(h).shown(shown(1, name), 'read')),
    /1 was 1\.0 and is now read as 2\.0/
  ],
  ['a message that is there twice [X1]', h => audit(h, shown(1, a0), shown(2, a0)), /1\.0 is there twice/],
  ['a gap in what is stored [O1]', h => audit(h, shown(2, a0)), /2 stands where 1 belongs/],
  [
    'a request out of order [O3]',
    h => session(h).answered([a0, a1], [told(2, a0), told(1, a1)]),
    /1\.1 got 1, and what stood before it in its request 2/
  ],
  ['a writer out of order [O3]', h => audit(h, shown(1, a1), shown(2, a0)), /1\.1 came before 1\.0/],
  ['a gap on a connection [O4]', h => session(h).live(shown(3, a0), 1), /a connection got 3 after 1/],
  ['a connection that goes back [O4]', h => session(h).live(shown(1, a0), 1), /a connection got 1 after 1/],
  ['another content', h => session(h).shown({ ...shown(1, a0), content: 'x' }, 'read'), /1 \(1\.0\) was read with another content/],
  [
    'two winners of a version [X4]',
    h => [a0, b0].forEach(name => void settings(h).won(name, { expected: 0, version: 1 })),
    /version 1 was 1\.0 and is now written as 2\.0/
  ],
  ['a version that is left out [X4]', h => settings(h).won(a0, { expected: 0, version: 2 }), /1\.0 replaced version 0 and got 2/],
  [
    'a refused value that is there [X4]',
    h => {
      settings(h).refused(a0)
      settings(h).shown({ version: 1, value: textOf(a0) }, 'read')
    },
    /1\.0 was refused and is version 1/
  ],
  ['an old version [X4]', h => settings(h).shown({ version: 0, value: null }, 'read', 1), /version 0 was read after 1 had been told/],
  [
    'a value of two versions [X4]',
    h => [1, 2].forEach(version => void settings(h).shown({ version, value: textOf(a0) }, 'read')),
    /1\.0 is version 1 and version 2/
  ]
]

for (const [what, tell, complaint] of flaws) {
  t.test(`found: ${what}`, async t => {
    const history = new History()
    tell(history)
    t.match(history.complaints.join('\n'), complaint)
  })
}

t.test('a writer that does not wait may overtake itself, and is stored once nevertheless', async t => {
  const history = new History()
  session(history).mayOvertakeItself(1)
  audit(history, shown(1, a1), shown(2, a0))
  t.same(history.complaints, [])
  audit(history, shown(1, a1), shown(2, a0), shown(3, a1))
  t.match(history.complaints, [/1\.1 is there twice/])
})

const many = Array.from({ length: 10_000 }, (_, number) => shown(number + 1, nameOf(1, number)))
const settled = () => {
  const history = new History()
  session(history).page(many, { cursor: 0, more: false, known: 0 })
  rest(history, ...many)
  rest(history)
  return history
}

t.test('what everybody has had since the rest before is forgotten, and still found changed', async t => {
  const history = settled()
  t.same([session(history).highest, session(history).remembered], [10_000, 10_000 - 2 * 4096])
  audit(history, ...many)
  t.same(history.complaints, [])
  const swapped = many.with(99, shown(100, nameOf(1, 100))).with(100, shown(101, nameOf(1, 99)))
  session(history).mayOvertakeItself(1)
  audit(history, ...swapped)
  t.match(history.complaints, [/1 to 4096 are not the same as they were/])
})

t.test('what a reader has still before it is remembered', async t => {
  const history = new History()
  const reader = session(history).addReader()
  session(history).page(many, { cursor: 0, more: false, known: 0 })
  rest(history, ...many)
  rest(history)
  t.equal(session(history).remembered, 10_000)
  reader.cursor = 5_000
  rest(history)
  t.equal(session(history).remembered, 10_000 - 4096)
})

t.test('found: a message that is told again long after', async t => {
  const history = settled()
  session(history).live(shown(5, nameOf(1, 4)), undefined)
  t.match(history.complaints, [/5 was sent live long after everybody had it/])
})

t.test('found at a rest: an acknowledged message that is lost [D1]', async t => {
  const history = new History()
  session(history).takenIn([a0])
  rest(history)
  t.match(history.complaints, [/1\.0 was acknowledged and is lost/])
})

t.test('settings of long ago are forgotten, and found if they come again [X4]', async t => {
  const history = new History()
  const c0 = nameOf(3, 0)
  settings(history).won(a0, { expected: 0, version: 1 })
  settings(history).refused(c0)
  settings(history).won(b0, { expected: 1, version: 2 })
  rest(history)
  rest(history)
  rest(history)
  t.equal(settings(history).remembered, 1)
  settings(history).shown({ version: 2, value: textOf(b0) }, 'read', 2)
  t.same(history.complaints, [])
  for (const name of [a0, c0]) settings(history).shown({ version: 3, value: textOf(name) }, 'read')
  settings(history).live({ version: 1, value: textOf(a0) }, undefined)
  t.match(history.complaints, [
    /1\.0 was written long ago and is now version 3/,
    /version 3 was 1\.0 and is now read as 3\.0/,
    /3\.0 was written long ago and is now version 3/,
    /version 1 was sent live long after everybody had it/
  ])
})

/** An app at `here` that has had the first message since the beginning, and nothing more; the second is known since two seconds. */
function waiting(): History {
  const history = new History()
  session(history).live(shown(1, a0), undefined)
  history.pass(1_000)
  session(history).answered([a1], [told(2, a1)])
  history.pass(2_000)
  return history
}
const judge = (history: History, { seen = 1, sinceMs = 0 } = {}) => {
  history.isInTime('s', { seen, sinceMs, at: 'here' })
  return history.complaints.join('\n')
}

t.test('found: a message that is not told in time, whether the bus works or not [M2]', async t => {
  const history = waiting()
  history.struck('Redis away')
  history.pass(toldWithinMs - 2_000)
  t.equal(judge(history), '')
  history.pass(1)
  t.match(judge(history), /session s: 2 is known for 7 s and was not told to the app here/)
})

t.test('it is not late for an app that has it, or that read the session later, and not after a rest', async t => {
  const history = waiting()
  history.pass(toldWithinMs)
  t.equal(judge(history, { seen: 2 }), '')
  t.equal(judge(history, { sinceMs: 2_000 + 1_000 }), '')
  session(history).steady.take(shown(1, a0))
  session(history).steady.take(shown(2, a1))
  session(history).forget()
  t.equal(judge(history), '')
})

t.test('nothing is late while the database or an instance is out of order, nor at once after it', async t => {
  const history = waiting()
  history.struck('database away')
  t.notOk(history.isWhole)
  history.pass(60_000)
  t.equal(judge(history), '')
  history.over('database away')
  t.ok(history.isWhole)
  history.pass(toldWithinMs)
  t.equal(judge(history), '')
  history.pass(1)
  t.match(judge(history), /2 is known for 7 s/)
  t.equal(history.disturbances, 2)
})

t.test('a complaint comes with what happened before it to the same session', async t => {
  const history = new History()
  history.session('other').live(shown(1, a0), undefined)
  history.struck('Redis killed')
  session(history).live(shown(1, a0), undefined, 'here')
  session(history).live(shown(1, a0), undefined, 'there')
  session(history).live(shown(2, b0), 1, 'here')
  session(history).live(shown(4, a1), 2, 'here')
  t.match(history.around, [/ s Redis killed$/, / s sent live 1 to 2 at here$/, / s sent live 1 at there$/, / s sent live 4 at here$/])
})
