import t from 'tap'
import { storedList } from '../../../web/core/stored-list.ts'
import { memoryDb } from '../kit/device.ts'

interface Pear {
  readonly key: string
  readonly text: string
}

const pear = (key: string, text = 'one'): Pear => ({ key, text })

/** The storage of a device, and what was written to it or removed. */
function device() {
  const db = memoryDb()
  const done: string[] = []
  const noted: typeof db = {
    ...db,
    write(name, value) {
      done.push(`write ${name}`)
      return db.write(name, value)
    },
    remove(name) {
      done.push(`remove ${name}`)
      return db.remove(name)
    }
  }
  return { db, done, open: (name = 'pears') => storedList<Pear>(name, async () => noted) }
}

t.test('entries are stored in order, replaced in place, and the last one removed leaves nothing', async t => {
  const { db, open, done } = device()
  const list = open()
  t.same(await list.read(), [])
  await list.put(pear('a'))
  await list.put(pear('b'))
  await list.put(pear('a', 'two'))
  t.same(await open().read(), [pear('a', 'two'), pear('b')])
  t.same(await open('apples').read(), [], 'each name is a list of its own')
  await list.drop('a')
  t.same(await list.read(), [pear('b')])
  await list.drop('b')
  t.equal(await db.read('pears'), undefined)
  t.equal(done.at(-1), 'remove pears')
})

t.test('a change gets the entry and returns what was there; what stays the same is not written', async t => {
  const { open, done } = device()
  const list = open()
  const seen: unknown[] = []
  const becoming = (next: Pear) => (before: Pear | undefined) => {
    seen.push(before)
    return next
  }
  t.equal(await list.change('a', becoming(pear('a'))), undefined)
  t.same(await list.change('a', becoming(pear('a', 'two'))), pear('a'))
  t.same(seen, [undefined, pear('a')])
  done.length = 0
  t.same(await list.change('a', before => before), pear('a', 'two'))
  t.equal(await list.change('never there', before => before), undefined)
  await list.drop('never there')
  t.same(done, [])
  t.same(await list.change('a', () => undefined), pear('a', 'two'))
  t.same(await list.read(), [])
})

t.test('changes made at once are all kept, and one that fails stops none behind it', async t => {
  const { open, db } = device()
  const list = open()
  await Promise.all(['a', 'b', 'c'].map(key => list.put(pear(key))))
  t.same(
    (await list.read()).map(({ key }) => key),
    ['a', 'b', 'c']
  )
  const failing = list.change('a', () => {
    throw new Error('a bug')
  })
  const dropped = list.drop('b')
  await t.rejects(failing, { message: 'a bug' })
  await dropped
  t.same(
    (await list.read()).map(({ key }) => key),
    ['a', 'c']
  )
  await db.write('pears', { form: 'of another version' })
  t.same(await list.read(), [])
})

t.test('with locks, no other tab changes the list meanwhile', async t => {
  const names: string[] = []
  const request = (name: string, run: () => unknown) => {
    names.push(name)
    return run()
  }
  t.intercept(globalThis, 'navigator', { value: { locks: { request } } })
  const { open } = device()
  await open().put(pear('a'))
  t.same(await open().read(), [pear('a')])
  t.same(names, ['kept pears', 'kept pears'])
})
