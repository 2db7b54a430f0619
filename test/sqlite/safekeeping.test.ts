import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { openStore } from '../../lib/store/open.ts'
import { RowDamaged, type Store } from '../../lib/store/store.ts'
import { CommitQueue } from '../../sqlite/commit-queue.ts'
import { noteEndedTokens, readEndedTokens } from '../../sqlite/ended-tokens.ts'
import { draft, newAccount, newSession, signInAs, tokenDraft } from '../store/contract/kit.ts'

t.test('no bit that flips in a stored message is ever shown as that message [F5]', async t => {
  const place = await filledPlace(t)
  const whole = readFileSync(place.file)
  const at = whole.indexOf('second second')
  let structureWasWhole = 0
  for (let bit = 0; bit < 24; bit++) {
    const flipped = Buffer.from(whole)
    const byte = at + ((bit * 7) % 'second second'.length)
    flipped.writeUInt8(flipped.readUInt8(byte) ^ (1 << (bit % 8)), byte)
    writeFileSync(place.file, flipped)
    const reader = new Database(place.file, { readonly: true })
    if (reader.pragma('quick_check', { simple: true }) === 'ok') structureWasWhole++
    reader.close()

    const store = await place.open()
    t.match(await store.readMessages(place.ann, place.session, { after: 0, limit: 10 }), { messages: [{ seq: 1 }], more: true })
    await t.rejects(store.readMessages(place.ann, place.session, { after: 1, limit: 10 }), RowDamaged)
    t.match(await store.readMessages(place.ann, place.session, { after: 2, limit: 10 }), { messages: [{ seq: 3 }], more: false })
    t.equal(store.soundness().damaged, 1)
    await store.close()
  }
  t.ok(structureWasWhole > 20, `${structureWasWhole} of 24 flips pass the check of SQLite`)
})

t.test('rows that changed places are refused though each is whole [F5]', async t => {
  const place = await filledPlace(t)
  const database = new Database(place.file)
  const at = (seq: number) => database.prepare('SELECT sealed, crc FROM message WHERE seq = ?').get(seq) as { sealed: string; crc: number }
  const [one, two] = [at(1), at(2)]
  const put = database.prepare('UPDATE message SET sealed = ?, crc = ? WHERE seq = ?')
  put.run(two.sealed, two.crc, 1)
  put.run(one.sealed, one.crc, 2)
  database.close()
  const store = await place.open()
  await t.rejects(store.readMessages(place.ann, place.session, { after: 0, limit: 10 }), RowDamaged)
  await store.close()
})

t.test('a repeat of a damaged message is refused alone [F5]', async t => {
  const place = await filledPlace(t)
  damage(place.file, 2)
  const store = await place.open()
  const [bad, good] = await Promise.allSettled([
    store.appendMessages(place.ann, place.session, [draft('second second', 'two')], 1),
    store.appendMessages(place.ann, place.session, [draft('fourth')], 1)
  ])
  t.match(bad, { status: 'rejected', reason: { name: 'RowDamaged' } })
  t.match(good, { status: 'fulfilled', value: { added: [{ seq: 4 }] } })
  await store.close()
})

t.test('a scrub finds what nobody reads, in bounded steps, and begins anew [F5]', async t => {
  const place = await filledPlace(t)
  damage(place.file, 3)
  const store = await place.open()
  const more = Array.from({ length: 600 }, (_, index) => draft(`more ${index}`))
  await store.appendMessages(place.ann, place.session, more, 1)
  await store.scrub()
  t.match(store.soundness(), { scrubbed: 512, rounds: 0, damaged: 1 })
  await store.scrub()
  t.match(store.soundness(), { scrubbed: 603, rounds: 1, damaged: 1 })
  await store.scrub()
  t.match(store.soundness(), { scrubbed: 603 + 512, rounds: 1, damaged: 1 })
  await store.close()
})

t.test('messages that are older than checksums can be read', async t => {
  const place = await filledPlace(t)
  const database = new Database(place.file)
  database.exec('UPDATE message SET crc = NULL')
  database.close()
  const store = await place.open()
  t.match(await store.readMessages(place.ann, place.session, { after: 0, limit: 10 }), { messages: { length: 3 } })
  await store.close()
})

t.test('a copy taken while messages arrive has all that were acknowledged before, and is whole [K1]', async t => {
  const { open, ann, session, data } = await filledPlace(t)
  const store = await open()
  const before = Array.from({ length: 400 }, (_, index) => draft(`${index} ${'x'.repeat(4000)}`))
  await store.appendMessages(ann, session, before, 1)
  const copied = store.copyTo(join(data, 'copy.db'), () => {})
  let meanwhile = 0
  const writing = (async () => {
    for (; meanwhile < 50; meanwhile++) await store.appendMessages(ann, session, [draft(`during ${meanwhile}`)], 1)
  })()
  await copied
  await writing
  await store.close()
  const copy = new Database(join(data, 'copy.db'), { readonly: true })
  t.equal(copy.pragma('integrity_check', { simple: true }), 'ok')
  t.ok(Number(copy.prepare('SELECT count(*) FROM message').pluck().get()) >= 403)
  t.equal(copy.prepare('SELECT last_seq = (SELECT count(*) FROM message) FROM session').pluck().get(), 1)
  copy.close()
})

t.test('a token that ends is written beside the database [A10]', async t => {
  const { open, data } = await filledPlace(t)
  const store = await open()
  const tokens = ['gone', 'also-gone', 'kept'].map(id => tokenDraft('account', id))
  let account: AccountId | undefined
  for (const token of tokens) {
    const outcome = await store.signIn(signInAs('ann', { token: () => token }))
    if (outcome.result === 'signed-in') account = outcome.account
  }
  if (!account) throw new Error('nobody signed in')
  t.same(readEndedTokens(data), [])
  for (const token of tokens.slice(0, 2)) t.equal(await store.revokeToken(account, token.id), 'revoked')
  t.same(readEndedTokens(data), ['gone', 'also-gone'])
  await store.close()
})

t.test('a token whose end was undone is not written [A10]', async t => {
  const data = t.testdir()
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  database.exec("CREATE TABLE token (id TEXT); INSERT INTO token VALUES ('kept'), ('gone')")
  const queue = new CommitQueue({ database, onBroken: () => t.fail('nothing broke'), beside: noteEndedTokens(database, data) })
  const end = (id: string) => database.prepare('DELETE FROM token WHERE id = ?').run(id)
  const undone = queue.write(() => {
    end('kept')
    throw new Error('changed my mind')
  })
  await t.rejects(undone, /changed my mind/)
  await queue.write(() => end('gone'))
  t.same(readEndedTokens(data), ['gone'])
})

async function filledPlace(t: Test) {
  const data = t.testdir()
  const file = join(data, 'afield.db')
  const open = (): Promise<Store> => openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  const store = await open()
  const ann = await newAccount(store, 'ann')
  const session: SessionId = await newSession(store, ann)
  await store.appendMessages(ann, session, [draft('first'), draft('second second', 'two'), draft('third')], 1)
  await store.close()
  return { data, file, open, ann, session }
}

function damage(file: string, seq: number): void {
  const database = new Database(file)
  database.prepare("UPDATE message SET sealed = 'S' || substr(sealed, 2) WHERE seq = ?").run(seq)
  database.close()
}
