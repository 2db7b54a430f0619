import { mock } from 'node:test'
import { signal } from '@preact/signals'
import t from 'tap'
import { type Entry, type EntryState, type Kind, openQueue } from '../../../../web/model/outbox/durable-queue.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { memoryDb, until } from '../../kit/device.ts'

interface Wrapped<Kind extends string> extends Entry {
  readonly kind: Kind
  readonly text?: string
}

/** A letter is sent at most once, and a crate that failed stays. */
type Parcel = Wrapped<'parcel'> | Wrapped<'letter'> | Wrapped<'crate'>

const noAnswer: EntryState = { type: 'failed', why: 'no-answer', says: '' }
const parcel = (key: string, kind: Parcel['kind'] = 'parcel'): Parcel => ({ key, kind, state: { type: 'queued' } })

/** Storage that outlives each app; `isFull`: it stores nothing more. */
function device() {
  const db = memoryDb()
  const isLinked = signal(false)
  const sent = signal<readonly string[]>([])
  const clock = manualClock()
  const leavesFrom = signal<number | 'over'>(0)
  let isFull = false
  let outcome: EntryState | undefined | Promise<EntryState | undefined>
  let failures = 0
  const kind: Kind<Parcel> = {
    mayLeave: () => leavesFrom.value,
    async send({ key }) {
      sent.value = [...sent.peek(), key]
      return outcome
    },
    mayStayInTab: true,
    onFailed: () => failures++
  }
  return {
    ...{ db, isLinked, sent, clock, leavesFrom },
    failures: () => failures,
    fill: () => {
      isFull = true
    },
    willBe: (next: typeof outcome) => {
      outcome = next
    },
    openApp: () =>
      openQueue<Parcel>({
        kinds: {
          parcel: kind,
          letter: { ...kind, mayStayInTab: false, asLeft: () => undefined },
          crate: { ...kind, keepsFailed: true, asLeft: entry => ({ ...entry, state: noAnswer }) }
        },
        isLinked,
        now: clock.now,
        after: clock.after,
        db: async () => ({
          ...db,
          write: (name, value) => (isFull ? Promise.reject(new Error('no room')) : db.write(name, value)),
          remove: name => (isFull ? Promise.reject(new Error('no room')) : db.remove(name))
        })
      })
  }
}

t.test('entries of every kind wait in one list, in order, also while the app is closed [U2] [U4]', async t => {
  const { openApp, isLinked, sent } = device()
  const before = openApp()
  for (const [key, kind] of [
    ['a', 'parcel'],
    ['b', 'letter'],
    ['c', 'parcel']
  ] as const)
    await before.put(parcel(key, kind))
  await before.close()
  const after = openApp()
  await after.isRead
  t.same(
    after.all.value.map(({ key }) => key),
    ['a', 'b', 'c']
  )
  t.same(
    after.of('letter').map(({ key }) => key),
    ['b']
  )
  isLinked.value = true
  await until(after.all, all => all.length === 0)
  t.same(sent.value.toSorted(), ['a', 'b', 'c'])
})

t.test('an entry is shown as waiting once it is stored: the app may be closed from then on [U2]', async t => {
  const { db, openApp } = device()
  const queue = openApp()
  await queue.isRead
  const isStored = Promise.withResolvers<void>()
  const shown: string[] = []
  const write = db.write
  db.write = async (name, value) => {
    await isStored.promise
    await write(name, value)
    shown.push('stored')
  }
  const stop = queue.all.subscribe(all => all.length > 0 && shown.push('shown'))
  const put = queue.put(parcel('a'))
  isStored.resolve()
  await put
  stop()
  t.same(shown, ['stored', 'shown'])
})

t.test('where the browser stores nothing, an entry that may waits in the tab and is sent from there; others are rejected', async t => {
  const { openApp, isLinked, sent, fill } = device()
  const queue = openApp()
  await queue.isRead
  fill()
  await queue.put(parcel('a'))
  await t.rejects(queue.put(parcel('b', 'letter')), { message: 'no room' })
  t.same(
    queue.all.value.map(({ key }) => key),
    ['a']
  )
  isLinked.value = true
  await until(queue.all, all => all.length === 0)
  t.same(sent.value, ['a'])
})

t.test('an at-most-once entry leaves nothing behind when the app was closed while sending it', async t => {
  const { openApp, isLinked, sent, willBe } = device()
  isLinked.value = true
  willBe(new Promise(() => {}))
  const before = openApp()
  await before.isRead
  await before.put(parcel('b', 'letter'))
  await until(sent, all => all.length === 1)
  await before.close()
  const after = openApp()
  await after.isRead
  await after.close()
  t.same([after.all.value, sent.value], [[], ['b']])
})

t.test('an entry in flight cannot be withdrawn; one that failed can, or was read and is gone', async t => {
  const { openApp, isLinked, willBe } = device()
  isLinked.value = true
  const queue = openApp()
  await queue.isRead
  const { promise, resolve } = Promise.withResolvers<undefined>()
  willBe(promise)
  void queue.send(parcel('a'), true)
  await queue.withdraw('a')
  t.match(queue.all.value, [{ key: 'a', state: { type: 'sending' } }])
  resolve(undefined)
  await until(queue.all, all => all.length === 0)
  willBe({ type: 'failed', why: 'failed', says: 'No.' })
  await queue.send(parcel('b'), true)
  await queue.send(parcel('c'), true)
  t.match(queue.all.value, [{ state: { type: 'failed' } }, { state: { type: 'failed' } }])
  await queue.withdraw('b')
  queue.dismiss('c')
  t.same(queue.all.value, [])
})

t.test('an entry leaves at its time, also when that is further away than a browser can wait', async t => {
  const { openApp, isLinked, sent, clock, leavesFrom } = device()
  isLinked.value = true
  leavesFrom.value = 2 ** 31 + 5
  const queue = openApp()
  await queue.isRead
  await queue.put(parcel('a'))
  t.equal(clock.pending, 1)
  clock.advance(2 ** 31 - 1)
  t.same([sent.value, clock.pending], [[], 1], 'it waits for the rest')
  clock.advance(5)
  t.same(sent.value, [])
  clock.advance(1)
  await until(queue.all, all => all.length === 0)
  t.same(sent.value, ['a'])
})

t.test('one whose time is not known waits without a timer, and one whose time came earlier leaves then', async t => {
  const { openApp, isLinked, sent, clock, leavesFrom } = device()
  isLinked.value = true
  leavesFrom.value = Number.POSITIVE_INFINITY
  const queue = openApp()
  await queue.isRead
  await queue.put(parcel('a'))
  t.equal(clock.pending, 0)
  leavesFrom.value = 9000
  t.equal(clock.pending, 1)
  leavesFrom.value = 10
  t.equal(clock.pending, 1, 'the earlier wait has ended')
  clock.advance(10)
  await until(queue.all, all => all.length === 0)
  t.same(sent.value, ['a'])
  leavesFrom.value = 9000
  await queue.put(parcel('b'))
  await queue.close()
  t.equal(clock.pending, 0, 'nothing is sent from a queue that is closed')
})

t.test('one whose target is away stays queued, also after the app was closed; any other failure is shown', async t => {
  for (const why of ['away', 'not-connected', 'no-answer', 'failed'] as const) {
    for (const kind of ['parcel', 'letter', 'crate'] as const) {
      const { openApp, isLinked, willBe, failures } = device()
      willBe({ type: 'failed', why, says: 'No.' })
      const before = openApp()
      await before.put(parcel('a', kind))
      await before.isRead
      isLinked.value = true
      await until(before.all, all => all[0]?.state.type === 'sending')
      await until(before.all, all => all[0]?.state.type !== 'sending')
      const isAway = why === 'away' || why === 'not-connected'
      t.same(before.all.value[0]?.state, isAway ? { type: 'queued' } : { type: 'failed', why, says: 'No.' })
      t.equal(failures(), isAway ? 0 : 1)
      isLinked.value = false
      await before.close()
      const after = openApp()
      await after.isRead
      const kept = isAway ? [{ type: 'queued' }] : kind === 'crate' ? [{ type: 'failed', why, says: 'No.' }] : []
      t.same(
        after.all.value.map(({ state }) => state),
        kept,
        `${why} ${kind}`
      )
    }
  }
})

t.test('an entry whose app was closed while sending it is shown as its kind says', async t => {
  const { openApp, isLinked, sent, willBe } = device()
  isLinked.value = true
  willBe(new Promise(() => {}))
  const before = openApp()
  await before.isRead
  await before.put(parcel('a', 'crate'))
  await until(sent, all => all.length === 1)
  await before.close()
  const after = openApp()
  await after.isRead
  t.match(after.all.value, [{ key: 'a', state: noAnswer }])
  t.same(sent.value, ['a'], 'and is not sent again')
})

t.test('one that is delivered can only be dismissed, and nothing canceled comes back', async t => {
  const { openApp, isLinked, willBe } = device()
  isLinked.value = true
  willBe({ type: 'delivered' })
  const queue = openApp()
  await queue.send(parcel('a'), true)
  await queue.withdraw('a')
  t.match(queue.all.value, [{ key: 'a', state: { type: 'delivered' } }])
  queue.dismiss('a')
  t.same(queue.all.value, [])
  isLinked.value = false
  await queue.put(parcel('b'))
  await queue.withdraw('b')
  await queue.withdraw('never there')
  await queue.close()
  const after = openApp()
  await after.isRead
  t.same([queue.all.value, after.all.value], [[], []])
})

t.test('one without a reason to be sent is not, and is not kept either', async t => {
  const { openApp, isLinked, sent, leavesFrom } = device()
  leavesFrom.value = 'over'
  const before = openApp()
  await before.put(parcel('a'))
  await before.isRead
  isLinked.value = true
  await before.close()
  leavesFrom.value = 0
  const after = openApp()
  await after.isRead
  t.same([after.all.value, sent.value], [[], []])
})

t.test('a change is shown, stored and sent; it touches no other kind and nothing that is being sent', async t => {
  const { openApp, isLinked, willBe, sent } = device()
  const before = openApp()
  await before.put({ ...parcel('a', 'crate'), text: 'one' })
  await before.change('crate', 'a', entry => ({ ...entry, text: 'two' }))
  await before.change('letter', 'a', entry => ({ ...entry, text: 'never' }))
  await before.change('crate', 'never there', entry => ({ ...entry, text: 'never' }))
  const shown = before.all.value
  t.match(shown, [{ text: 'two' }])
  await before.change('crate', 'a', entry => entry)
  t.equal(before.all.value, shown, 'what stays the same is not drawn again')
  await before.close()
  const after = openApp()
  await after.isRead
  t.match(after.all.value, [{ key: 'a', text: 'two' }])

  const { promise, resolve } = Promise.withResolvers<EntryState>()
  willBe(promise)
  isLinked.value = true
  await until(sent, all => all.length === 1)
  await after.change('crate', 'a', entry => ({ ...entry, text: 'too late' }))
  t.match(after.all.value, [{ text: 'two', state: { type: 'sending' } }])
  resolve(noAnswer)
  await until(after.all, all => all[0]?.state.type === 'failed')
  willBe(undefined)
  await after.change('crate', 'a', entry => ({ ...entry, state: { type: 'queued' } }))
  await until(after.all, all => all.length === 0)
  t.same(sent.value, ['a', 'a'], 'one queued again is sent')
})

t.test('where nothing can be stored, an entry that waits in the tab can be changed too', async t => {
  const { openApp, fill, db } = device()
  const queue = openApp()
  await queue.isRead
  fill()
  await queue.put({ ...parcel('a'), text: 'one' })
  await queue.change('parcel', 'a', entry => ({ ...entry, text: 'two' }))
  t.match(queue.all.value, [{ key: 'a', text: 'two' }])
  t.equal(await db.read('queue'), undefined)
})

t.test('storage that fails once an entry was sent does not keep it on the screen', async t => {
  const { openApp, isLinked, sent, willBe, fill } = device()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  willBe(promise)
  const queue = openApp()
  await queue.put(parcel('a'))
  await queue.isRead
  isLinked.value = true
  await until(sent, all => all.length === 1)
  fill()
  resolve(undefined)
  await until(queue.all, all => all.length === 0)
  await t.resolves(queue.close())
})

t.test('a failure that cannot be stored is shown all the same', async t => {
  const { openApp, isLinked, sent, willBe, fill } = device()
  const { promise, resolve } = Promise.withResolvers<EntryState>()
  willBe(promise)
  const queue = openApp()
  await queue.put(parcel('a', 'crate'))
  await queue.isRead
  isLinked.value = true
  await until(sent, all => all.length === 1)
  fill()
  resolve(noAnswer)
  await until(queue.all, all => all[0]?.state.type === 'failed')
  await t.resolves(queue.close())
})

t.test('one that cannot be sent at all does not look as if it were being sent', async () => {
  const { openApp, isLinked, willBe } = device()
  willBe(Promise.reject(new Error('a bug')))
  const queue = openApp()
  await queue.put(parcel('a'))
  await queue.isRead
  isLinked.value = true
  await until(queue.all, all => all.length === 0)
})

t.test('one stored again under its key is replaced where it stands', async t => {
  const { openApp } = device()
  const queue = openApp()
  await queue.put({ ...parcel('a'), text: 'one' })
  await queue.put(parcel('b'))
  await queue.put({ ...parcel('a'), text: 'two' })
  t.match(queue.all.value, [{ key: 'a', text: 'two' }, { key: 'b' }])
  await queue.close()
  const after = openApp()
  await after.isRead
  t.match(after.all.value, [{ key: 'a', text: 'two' }, { key: 'b' }])
  t.equal(after.all.value.length, 2)
})

t.test('without a connection, one that may not wait fails at once and is not stored', async t => {
  const { openApp, sent, failures } = device()
  const queue = openApp()
  await queue.send(parcel('a'), false)
  t.same(queue.all.value, [{ ...parcel('a'), state: { type: 'failed', why: 'not-connected', says: '' } }])
  t.equal(failures(), 1)
  await queue.close()
  const after = openApp()
  await after.isRead
  t.same([after.all.value, sent.value], [[], []])
})

t.test('an entry shown as waiting is sent even if the storage can no longer be read', async t => {
  const { db, openApp, isLinked, sent } = device()
  const queue = openApp()
  await queue.put(parcel('a'))
  await queue.isRead
  db.read = () => Promise.reject(new Error('the browser closed it'))
  isLinked.value = true
  await until(queue.all, all => all.length === 0)
  t.same(sent.value, ['a'])
})

t.test('by the clock of the device, an entry leaves when its time has come, unless the queue was closed', async t => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  const sent: string[] = []
  const kind: Kind<Parcel> = { mayLeave: () => 5000, send: async ({ key }) => void sent.push(key), mayStayInTab: true }
  const { db } = device()
  const open = () =>
    openQueue<Parcel>({ kinds: { parcel: kind, letter: kind, crate: kind }, isLinked: signal(true), db: async () => db, now: Date.now })
  const closed = open()
  await closed.put(parcel('a'))
  await closed.isRead
  await closed.close()
  mock.timers.tick(5000)
  t.same(sent, [])
  mock.timers.setTime(0)
  const queue = open()
  await queue.isRead
  mock.timers.tick(4999)
  t.same([queue.all.value.length, sent], [1, []])
  mock.timers.tick(1)
  await until(queue.all, all => all.length === 0)
  t.same(sent, ['a'])
})
