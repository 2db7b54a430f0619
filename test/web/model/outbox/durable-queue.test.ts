import { signal } from '@preact/signals'
import t from 'tap'
import { type Entry, type EntryState, type Kind, openQueue } from '../../../../web/model/outbox/durable-queue.ts'
import { memoryDb, until } from '../../kit/device.ts'

interface Parcel extends Entry {
  readonly kind: 'parcel' | 'letter'
}

const parcel = (key: string, kind: Parcel['kind'] = 'parcel'): Parcel => ({ key, kind, state: { type: 'queued' } })

/** Storage that outlives each app; `isFull`: it stores nothing more. */
function device() {
  const db = memoryDb()
  const isLinked = signal(false)
  const sent = signal<readonly string[]>([])
  let isFull = false
  let outcome: EntryState | undefined | Promise<undefined>
  const kind: Kind<Parcel> = {
    mayLeave: () => 0,
    async send({ key }) {
      sent.value = [...sent.peek(), key]
      return outcome
    },
    mayStayInTab: true
  }
  return {
    db,
    isLinked,
    sent,
    fill: () => {
      isFull = true
    },
    willBe: (next: typeof outcome) => {
      outcome = next
    },
    openApp: () =>
      openQueue<Parcel>({
        kinds: { parcel: kind, letter: { ...kind, mayStayInTab: false, asLeft: () => undefined } },
        isLinked,
        db: async () => ({
          ...db,
          write: (name, value) => (isFull ? Promise.reject(new Error('no room')) : db.write(name, value))
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
