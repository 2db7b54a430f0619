import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cryptoReady, dataKeyCipher, engine } from '../../../lib/crypto/index.ts'
import { type HeardOptions, openHeardMessages } from '../../../lib/wrapper/home/heard-messages.ts'
import { manualClock } from '../../kit/manual-clock.ts'

t.before(() => cryptoReady())

function hear(t: Test, how: Partial<HeardOptions> = {}) {
  const faults: string[] = []
  const clock = manualClock()
  const options: HeardOptions = {
    path: join(t.testdir(), 'session', 'messages.heard'),
    session: 's1',
    isWhole: true,
    refusesNameless: () => false,
    onNamed: () => {},
    onFault: (type, count = 1) => void faults.push(`${type} ${count}`),
    clock,
    ...how
  }
  const { seal } = dataKeyCipher(engine.randomBytes(32))
  const by = (number: number, gone: number[] = []) => ({
    sender: 'a',
    number,
    session: 's1',
    gone: gone.map(number => ({ sender: 'a', number }))
  })
  return { options, faults, clock, seal, by }
}

t.test('a message is taken once, read again at its place, and refused at any other, by a later process too [W13]', async t => {
  const { options, faults, seal, by } = hear(t)
  const first = openHeardMessages(options)
  const message = { seq: 4, content: seal('one'), by: by(1) }
  t.ok(first.take(message))
  t.ok(first.take(message))
  t.notOk(first.take({ ...message, seq: 5 }))
  const bare = { seq: 6, content: seal('bare'), by: undefined }
  t.ok(first.take(bare))

  const later = openHeardMessages(options)
  t.ok(later.take(message))
  t.notOk(later.take({ ...message, seq: 7 }))
  t.notOk(later.take({ ...bare, seq: 8 }), 'what has no name is known by its seal')
  t.ok(later.take({ seq: 9, content: seal('two'), by: by(2) }))
  t.strictSame(faults, ['message-repeated 1', 'message-repeated 1', 'message-repeated 1'])

  const anew = openHeardMessages({ ...options, session: 's2' })
  t.notOk(anew.take(message), 'not at the same number of a session that was opened anew')
})

t.test('what does not come is said after a while, unless its sender says that it never will [W13]', async t => {
  const { options, faults, clock, seal, by } = hear(t)
  const heard = openHeardMessages(options)
  t.ok(heard.take({ seq: 1, content: seal(1), by: by(1) }))
  t.ok(heard.take({ seq: 2, content: seal(3), by: by(3) }))
  t.ok(heard.take({ seq: 3, content: seal(6), by: by(6) }))
  clock.advance(29_000)
  t.strictSame(faults, [])
  t.ok(heard.take({ seq: 4, content: seal(7), by: by(7, [2]) }))
  clock.advance(1_000)
  t.strictSame(faults, ['message-missing 2'])
  t.ok(heard.take({ seq: 5, content: seal(4), by: by(4) }), 'it is carried out late')
  t.strictSame(faults, ['message-missing 2', 'message-late 1'])
  heard.close()
})

t.test('what is for another session, and what has no name where all have one, is not taken [W13]', async t => {
  let refuses = false
  const named: boolean[] = []
  const { options, faults, seal, by } = hear(t, { refusesNameless: () => refuses, onNamed: () => void named.push(true) })
  const heard = openHeardMessages(options)
  t.notOk(heard.take({ seq: 1, content: seal(1), by: { ...by(1), session: 's2' } }))
  t.strictSame(named, [])
  t.ok(heard.take({ seq: 2, content: seal('old'), by: undefined }))
  t.ok(heard.take({ seq: 3, content: seal(1), by: by(1) }))
  refuses = true
  t.notOk(heard.take({ seq: 4, content: seal('older'), by: undefined }))
  t.strictSame(named, [true])
  t.strictSame(faults, ['message-astray 1', 'message-nameless 1'])
})

t.test(
  'a full disk ends no session at a message, and what was taken is written as soon as there is room [W13]',
  { skip: process.platform !== 'linux' && 'needs /dev/full' },
  t => {
    const { options, seal, by } = hear(t)
    const heard = openHeardMessages(options)
    const messages = [1, 2, 3].map(number => ({ seq: number, content: seal(number), by: by(number) }))
    const [first, second, third] = messages
    t.ok(first && heard.take(first))
    const path = join(t.testdirName, 'session', 'messages.heard')
    // Neither the file nor the one that shall take its place.
    for (const full of [path, `${path}.${process.pid}.new`]) {
      rmSync(full, { force: true })
      symlinkSync('/dev/full', full)
    }
    t.ok(second && heard.take(second))
    t.ok(third && heard.take(third))
    heard.close()
    const later = openHeardMessages(options)
    for (const message of messages) t.notOk(later.take({ ...message, seq: message.seq + 10 }), 'a later process knows it')
    t.end()
  }
)
