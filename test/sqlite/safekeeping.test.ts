import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { artifactId, attachmentId, kvKey } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { openStore } from '../../lib/store/open.ts'
import { safekeepingOf } from '../../lib/store/safekeeping.ts'
import { RowDamaged, type Store } from '../../lib/store/store.ts'
import { noteEndedTokens, readEndedTokens } from '../../sqlite/access/ended-tokens.ts'
import { CommitQueue } from '../../sqlite/engine/commit-queue.ts'
import { draft, machineId, newAccount, newMachine, newSession, sealed, signInAs, tokenDraft } from '../store/contract/kit.ts'

t.test('no flipped bit in a stored message is ever shown as that message [F5]', async t => {
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
    t.equal(safekeepingOf(store).soundness().damaged, 1)
    await store.close()
  }
  t.ok(structureWasWhole > 20, `${structureWasWhole} of 24 flips pass the check of SQLite`)
})

t.test('swapped rows are rejected though each is intact [F5]', async t => {
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

t.test('only a repeat of the damaged message is rejected [F5]', async t => {
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

t.test('a scrub checks unread rows in bounded steps, and then starts over [F5]', async t => {
  const place = await filledPlace(t)
  damage(place.file, 3)
  const store = await place.open()
  const more = Array.from({ length: 600 }, (_, index) => draft(`more ${index}`))
  await store.appendMessages(place.ann, place.session, more, 1)
  await safekeepingOf(store).scrub()
  t.match(safekeepingOf(store).soundness(), { scrubbed: 512, rounds: 0, damaged: 1 })
  await safekeepingOf(store).scrub()
  t.match(safekeepingOf(store).soundness(), { scrubbed: 604, rounds: 1, damaged: 1 })
  await safekeepingOf(store).scrub()
  t.match(safekeepingOf(store).soundness(), { scrubbed: 604 + 512, rounds: 1, damaged: 1 })
  await store.close()
})

for (const { table, column } of [
  { table: 'session_cells', column: 'metadata' },
  { table: 'session_cells', column: 'agent_state' },
  { table: 'machine', column: 'daemon_state' },
  { table: 'account_cells', column: 'settings' },
  { table: 'kv', column: 'value' },
  { table: 'artifact', column: 'body' },
  { table: 'access_key', column: 'data' },
  { table: 'attachment_piece', column: 'bytes' }
]) {
  t.test(`corruption in ${column} of ${table} is found, by a scrub and in a copy [F5, K1]`, async t => {
    const place = await placeWithEverything(t)
    const sound = await place.open()
    await safekeepingOf(sound).scrub()
    t.match(safekeepingOf(sound).soundness(), { rounds: 1, damaged: 0 })
    t.same((await safekeepingOf(sound).inspect()).flaws, [])
    await sound.close()
    const database = new Database(place.file)
    const changed = database.prepare(
      `UPDATE ${table} SET ${column} = CAST('S' || substr(${column}, 2) AS ${column === 'bytes' ? 'BLOB' : 'TEXT'})`
    )
    t.equal(changed.run().changes, 1)
    database.close()

    const store = await place.open()
    await safekeepingOf(store).scrub()
    await safekeepingOf(store).scrub()
    t.match(safekeepingOf(store).soundness(), { rounds: 2, damaged: 1 })
    t.match((await safekeepingOf(store).inspect()).flaws, [new RegExp(`^${table} .* is not what was stored$`)])
    if (table === 'attachment_piece') {
      await t.rejects(store.readPiece(place.ann, place.session, place.attachment, 1), RowDamaged)
    }
    await store.close()
  })
}

t.test('a removed account leaves no row in any table [P4]', async t => {
  const { ann, open, file } = await placeWithEverything(t)
  const rowsOf = () => {
    const database = new Database(file, { readonly: true })
    const tables = database
      .prepare<[], string>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) WHERE name = 'account')"
      )
      .pluck()
      .all()
    const counts = ['account', ...tables].map(table => [table, database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()])
    database.close()
    return Object.fromEntries(counts)
  }
  t.match(rowsOf(), { account: 1, message: 3, attachment_piece: 1, session: 1, kv: 1, artifact: 1, device: 1, token: 1 })
  const store = await open()
  t.match(await store.removeAccount(ann), { tokens: [/./] })
  await store.close()
  for (const [table, count] of Object.entries(rowsOf())) t.equal(count, 0, table)
})

t.test('an attachment with a missing piece is found in a copy [K1]', async t => {
  const place = await placeWithEverything(t)
  const database = new Database(place.file)
  database.exec('DELETE FROM attachment_piece')
  database.close()
  const store = await place.open()
  t.match((await safekeepingOf(store).inspect()).flaws, [/^attachment row \d+ does not have all its bytes$/])
  await store.close()
})

t.test('messages from before checksums can be read', async t => {
  const place = await filledPlace(t)
  const database = new Database(place.file)
  database.exec('UPDATE message SET crc = NULL')
  database.close()
  const store = await place.open()
  t.match(await store.readMessages(place.ann, place.session, { after: 0, limit: 10 }), { messages: { length: 3 } })
  await store.close()
})

t.test('a copy made while messages arrive is complete and has all acknowledged before [K1]', async t => {
  const { open, ann, session, data } = await filledPlace(t)
  const store = await open()
  const before = Array.from({ length: 400 }, (_, index) => draft(`${index} ${'x'.repeat(4000)}`))
  await store.appendMessages(ann, session, before, 1)
  const copied = safekeepingOf(store).copyTo(join(data, 'copy.db'), () => {})
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

t.test('an ended token is recorded next to the database [A10]', async t => {
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

t.test('a token whose end was rolled back is not recorded [A10]', async t => {
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

/** One row in every table that holds what clients sealed, each written twice where that can be. */
async function placeWithEverything(t: Test) {
  const place = await filledPlace(t)
  const { ann, session } = place
  const store = await place.open()
  const laptop = machineId('laptop')
  const document = v.parse(artifactId, '0199c3ae-5a6a-4b44-9a7e-3a4cf09eb1a1')
  const attachment = v.parse(attachmentId, '0199c3ae-5a6a-4b44-9a7e-3a4cf09eb1a2.enc')
  const change = (version: number) => ({ key: v.parse(kvKey, 'a'), value: sealed(`value ${version}`), version })
  await store.writeCell(ann, { of: 'session', id: session, name: 'agentState' }, 0, sealed('busy'), 2)
  await newMachine(store, ann, laptop)
  await store.writeCell(ann, { of: 'machine', id: laptop, name: 'daemonState' }, 1, sealed('running'), 2)
  for (const version of [0, 1]) await store.writeCell(ann, { of: 'account', name: 'settings' }, version, sealed(`settings ${version}`), 2)
  for (const version of [-1, 0]) await store.mutateKv(ann, [change(version)], 2)
  await store.openArtifact(ann, { id: document, header: sealed('header'), body: sealed('body'), dataKey: sealed('key'), now: 2 })
  await store.writeArtifact(ann, document, { body: { expected: 1, value: sealed('another') } }, 2)
  await store.addAccessKey(ann, { session, machine: laptop }, sealed('access'), 2)
  await store.writeAccessKey(ann, { session, machine: laptop }, 1, sealed('another'), 2)
  await store.openUpload(ann, session, { id: attachment, size: 4, now: 1, endsAt: 9 })
  await store.appendPiece(ann, session, attachment, { attempt: 0, at: 0, bytes: Buffer.from('file'), now: 1, endsAt: 9 })
  await store.close()
  return { ...place, attachment }
}

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
