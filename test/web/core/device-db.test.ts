import 'fake-indexeddb/auto'
import { openDB } from 'idb'
import t from 'tap'
import { openDeviceDb } from '../../../web/core/device-db.ts'
import { isFull } from '../../../web/core/free-space.ts'
import { testJournal } from '../../client/outbox/journal-contract.ts'

t.test('stored entries are read back, also after the app was closed', async t => {
  const db = await openDeviceDb('kept')
  await db.write('account', { secret: 'c2VjcmV0' })
  t.strictSame(await (await openDeviceDb('kept')).read('account'), { secret: 'c2VjcmV0' })
  t.equal(await db.read('nothing'), undefined)
})

t.test("nothing in the browser's files contains the stored data in clear [H8]", async t => {
  const db = await openDeviceDb('sealed')
  await db.write('account', { secret: 'a very secret text' })
  const raw = await openDB('sealed')
  const kept = await raw.get('sealed', 'account')
  t.notMatch(new TextDecoder('latin1').decode(kept.data), 'secret')
  const [key] = await raw.getAll('keys')
  t.equal(key.extractable, false)
  await t.rejects(crypto.subtle.exportKey('raw', key))
})

t.test('an entry moved to the place of another one does not decrypt', async t => {
  const db = await openDeviceDb('swapped')
  await db.write('home', { form: 1 })
  const raw = await openDB('swapped')
  await raw.put('sealed', await raw.get('sealed', 'home'), 'account')
  t.equal(await db.read('account'), undefined)
  t.strictSame(await db.read('home'), { form: 1 })
})

t.test('erasing removes the entries and the key that decrypted them', async t => {
  const db = await openDeviceDb('erased')
  await db.write('account', { secret: 'x' })
  const raw = await openDB('erased')
  const copy = await raw.get('sealed', 'account')
  await db.erase()
  t.equal(await db.read('account'), undefined)
  await raw.put('sealed', copy, 'account')
  t.equal(await db.read('account'), undefined, 'a copy made before does not open with the new key')
  await db.write('account', { secret: 'y' })
  t.strictSame(await db.read('account'), { secret: 'y' })
})

t.test('two tabs that start at once share one key', async t => {
  const [one, other] = await Promise.all([openDeviceDb('tabs'), openDeviceDb('tabs')])
  await one.write('account', 'from one')
  t.equal(await other.read('account'), 'from one')
})

t.test('a tab writes nothing with a key that another tab erased', async t => {
  const [one, other] = await Promise.all([openDeviceDb('erased-there'), openDeviceDb('erased-there')])
  await other.write('account', 'old')
  await Promise.all([one.erase(), other.erase()])
  await Promise.all([one.write('account', 'new'), other.write('home', 'sessions')])
  const reloaded = await openDeviceDb('erased-there')
  t.equal(await reloaded.read('account'), 'new')
  t.equal(await reloaded.read('home'), 'sessions')
})

t.test('concurrent changes from several tabs are all kept', async t => {
  const tabs = await Promise.all([openDeviceDb('changed'), openDeviceDb('changed'), openDeviceDb('changed')])
  const addOne = (kept: unknown) => Number(kept ?? 0) + 1
  await Promise.all(tabs.flatMap(tab => [tab.change('count', addOne), tab.change('count', addOne)]))
  t.equal(await tabs[0].read('count'), 6)
  t.equal(await tabs[1].change('count', () => undefined), 6, 'and one that wants nothing changes nothing')
})

t.test('everything but one entry is removed, unless that one has changed', async t => {
  const db = await openDeviceDb('cleared')
  await Promise.all(['account', 'a', 'z'].map(name => db.write(name, name)))
  await db.journal().append([{ session: 's', localId: 'l', content: 'c', createdAt: 1 }])
  await db.clear('account', kept => kept === 'account')
  t.equal(await db.read('a'), 'a')
  await db.clear('account', kept => kept !== 'account')
  t.same([await db.read('a'), await db.read('z'), await db.journal().load()], [undefined, undefined, []])
  t.equal(await db.read('account'), 'account')
})

t.test('what is being stored while everything is removed is removed too, and what is stored later stays [H11]', async t => {
  const db = await openDeviceDb('cleared-meanwhile')
  await db.write('account', 'account')
  // Sealing this takes longer than removing.
  const large = 'x'.repeat(2_000_000)
  await Promise.all([db.write('home', large), db.clear('account', () => false), db.write('later', 'stays')])
  t.same([await db.read('account'), await db.read('home'), await db.read('later')], ['account', undefined, 'stays'])
  await Promise.all([db.write('home', large), db.erase(), db.write('later', 'new')])
  t.same([await db.read('account'), await db.read('home'), await db.read('later')], [undefined, undefined, 'new'])
})

t.test('a full device is known until something can be stored again', async t => {
  const db = await openDeviceDb('full')
  const { put } = IDBObjectStore.prototype
  t.teardown(() => {
    IDBObjectStore.prototype.put = put
  })
  IDBObjectStore.prototype.put = () => {
    throw new DOMException('no room', 'QuotaExceededError')
  }
  await t.rejects(db.write('home', { form: 1 }), { name: 'QuotaExceededError' })
  t.equal(isFull.value, true)
  IDBObjectStore.prototype.put = put
  await db.write('home', { form: 1 })
  t.equal(isFull.value, false)
})

t.test('the last request wins, however long earlier encryption takes', async t => {
  const db = await openDeviceDb('turns')
  const large = 'x'.repeat(2_000_000)
  await Promise.all([db.write('draft', large), db.write('draft', 'short')])
  t.equal(await db.read('draft'), 'short')
  void db.write('draft', large)
  void db.remove('draft')
  t.equal(await db.read('draft'), undefined, 'also for a concurrent read')
  t.equal(await db.read('draft'), undefined)
})

let opened = 0

testJournal(t, async () => {
  const name = `journal-${opened++}`
  const open = async () => (await openDeviceDb(name)).journal()
  return { journal: await open(), reopen: open }
})

t.test('closing the journal waits for a call in progress, also for one that fails', async t => {
  const db = await openDeviceDb('journal-closed')
  const draft = { session: 's1', localId: 'a', content: 'aGk=', createdAt: 1 }
  await db.journal().append([draft])
  const journal = db.journal()
  const ended: string[] = []
  const twice = journal.append([{ ...draft, localId: 'b' }, draft]).catch(() => ended.push('append'))
  await journal.close()
  ended.push('close')
  await twice
  t.same(ended, ['append', 'close'])
  t.same(await db.journal().load(), [draft], 'and nothing of it is left')
})
