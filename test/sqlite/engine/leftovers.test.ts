import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { AccountId, SessionId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { openStore } from '../../../lib/store/open.ts'
import { safekeepingOf } from '../../../lib/store/safekeeping.ts'
import type { Store } from '../../../lib/store/store.ts'
import { draft, found, machineId, newAccount, newMachine, newSession, sealed, signInAs } from '../../store/contract/kit.ts'

const many = 250

async function openIn(t: Test, dataDirectory: string): Promise<Store> {
  const store = await openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
  t.teardown(() => store.close())
  return store
}

const all = (count: number, work: (number: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, number) => work(number)))

/** A session with too much of everything to be removed at once. */
async function fullSession(store: Store, account: AccountId, tag: string): Promise<SessionId> {
  const session = await newSession(store, account, tag)
  await store.appendMessages(
    account,
    session,
    Array.from({ length: many }, (_, row) => draft(`${tag} ${row}`, `${row}`)),
    1
  )
  const used = { tokens: { total: 1 }, cost: { total: 1 }, now: 1 }
  await all(many, number => store.putUsageReport(account, { id: `${tag} ${number}`, key: `${number}`, session, ...used }))
  const opening = { size: 1, now: 1, endsAt: 9 }
  await all(many, number => store.openUpload(account, session, { id: attachmentOf(number), ...opening }))
  await all(many, number => store.addNotice(account, noticeOf(session, `${tag} ${number}`)))
  return session
}

const attachmentOf = (number: number) => v.parse(ids.attachmentId, `00000000-0000-4000-8000-${String(number).padStart(12, '0')}.enc`)

function noticeOf(session: SessionId, id: string): Parameters<Store['addNotice']>[1] {
  const delivery = { channel: 'p', channelKind: 'expo' as const, isSilent: false, isCollected: false, unlessWatched: false, dueAt: 1 }
  return {
    id,
    kind: 'done',
    session,
    title: 't',
    body: 'b',
    preview: null,
    now: 1,
    expiresAt: 999,
    deliveries: [{ ...delivery, receipt: `${session} ${id}` }]
  }
}

async function sweep(store: Store): Promise<void> {
  while ((await store.sweepLeftovers(1)) === 'more');
}

/** How many rows each table has that an account may have many of. */
function rowsIn(data: string): Record<string, number> {
  const database = new Database(`${data}/afield.db`, { readonly: true })
  const tables = [
    'message',
    'usage_report',
    'attachment',
    'attachment_piece',
    'notice',
    'delivery',
    'access_key',
    'kv',
    'artifact',
    'session',
    'leftover'
  ]
  const rows = tables.map(table => [table, database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()])
  database.close()
  return Object.fromEntries(rows)
}

t.test('a large session disappears for everyone at once, and its rows are deleted in pieces [I1, D4]', async t => {
  const data = t.testdir()
  const store = await openIn(t, data)
  const ann = await newAccount(store, 'ann')
  await store.addPushToken(ann, { id: 'p', token: 'ExponentPushToken[x]', now: 1 })
  const [gone, stays] = [await fullSession(store, ann, 'gone'), await fullSession(store, ann, 'stays')]
  await store.remove(ann, { of: 'session', id: gone })
  t.match(rowsIn(data), { message: 2 * many - 100, leftover: 1 }, 'one turn removes only so many')

  t.equal(await store.findSession(ann, gone), 'missing')
  t.equal(await store.readMessages(ann, gone, { after: 0, limit: 9 }), 'missing')
  t.equal(await store.appendMessages(ann, gone, [draft('x')], 1), 'missing')
  t.match(await store.readStorage(ann), { sessions: 1, messages: many })
  t.match(await store.readUsage(ann, { session: null, from: 0, to: 9, bucketMs: 10 }), [{ reports: many }])
  const due = { kind: 'expo', now: 2, heldUntil: 3, limit: 9999, ofAnAccount: 9999, busy: [] } as const
  t.same(new Set((await store.claimDeliveries(due)).map(({ notice }) => notice.session)), new Set([stays]), 'and rings nobody')
  const again = await newSession(store, ann, 'gone')
  t.not(again, gone)
  t.same(await store.readMessages(ann, again, { after: 0, limit: 9 }), { messages: [], more: false }, 'what is left is nobody’s')
  t.equal(found(await store.appendMessages(ann, again, [draft('new', '0')], 2)).added.length, 1)

  await sweep(store)
  t.same(rowsIn(data), {
    ...{ message: many + 1, usage_report: many, attachment: many, notice: many, delivery: many },
    ...{ attachment_piece: 0, access_key: 0, kv: 0, artifact: 0, session: 2, leftover: 0 }
  })
  t.match(await safekeepingOf(store).inspect(), { flaws: [] })
  t.equal(found(await store.readMessages(ann, again, { after: 0, limit: 9 })).messages.length, 1)
})

t.test('deleting a session continues after a restart, and in a copy taken midway [K1]', async t => {
  const data = t.testdir({ copy: {} })
  const first = await openIn(t, data)
  const ann = await newAccount(first, 'ann')
  const gone = await fullSession(first, ann, 'gone')
  await first.remove(ann, { of: 'session', id: gone })
  await safekeepingOf(first).copyTo(`${data}/copy/afield.db`, () => {})
  await first.close()
  for (const directory of [data, `${data}/copy`]) {
    const store = await openIn(t, directory)
    t.match(await safekeepingOf(store).inspect(), { sessions: 0, flaws: [] })
    await safekeepingOf(store).becomeRestored({ endedTokens: [], holdLoginsUntil: 0, now: 1 })
    const again = await newSession(store, ann, 'gone')
    t.same(await store.readMessages(ann, again, { after: 0, limit: 9 }), { messages: [], more: false })
    await sweep(store)
    t.match(rowsIn(directory), { message: 0, usage_report: 0, attachment: 0, notice: 0, session: 1, leftover: 0 })
    await store.close()
  }
})

t.test("a removed machine's access keys do not pass to its successor [I1]", async t => {
  const data = t.testdir()
  const store = await openIn(t, data)
  const ann = await newAccount(store, 'ann')
  const [gone, stays] = [machineId('gone'), machineId('stays')]
  for (const machine of [stays, gone]) await newMachine(store, ann, machine)
  const sessions = await Promise.all(Array.from({ length: many }, (_, number) => newSession(store, ann, `${number}`)))
  const keysOf = (machine: typeof gone) =>
    Promise.all(sessions.map(session => store.addAccessKey(ann, { session, machine }, sealed('secret'), 1)))
  for (const machine of [stays, gone]) await keysOf(machine)
  await store.remove(ann, { of: 'machine', id: gone })
  t.match(rowsIn(data), { access_key: 2 * many - 100, leftover: 1 })
  await newMachine(store, ann, gone)
  for (const session of sessions) t.notMatch(await store.findAccessKey(ann, { session, machine: gone }), { data: 'secret' })
  await sweep(store)
  t.match(rowsIn(data), { access_key: many, leftover: 0 })
})

t.test('a huge account is deleted in pieces, and belongs to no one meanwhile [I1, I3, P4]', async t => {
  const data = t.testdir()
  const store = await openIn(t, data)
  const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
  const session = await fullSession(store, ann, 'one')
  for (const account of [ann, bob]) {
    const name = (number: number) => `${account} ${number}`
    const own = account === bob ? await fullSession(store, bob, 'one') : session
    await store.mutateKv(account, [{ key: v.parse(ids.kvKey, 'one'), value: sealed('v'), version: -1 }], 1)
    await newMachine(store, account, machineId('m'))
    await store.addAccessKey(account, { session: own, machine: machineId('m') }, sealed('secret'), 1)
    await store.appendPiece(account, own, attachmentOf(0), { attempt: 0, at: 0, bytes: Buffer.from('p'), now: 2, endsAt: 9 })
    await store.markActive([{ account, row: { of: 'machine', id: machineId('m') }, active: true, at: 1 }])
    const draft = { header: sealed('h'), body: sealed('b'), dataKey: sealed('k'), now: 1 }
    await all(account === bob ? many : 1, number => store.openArtifact(account, { id: v.parse(ids.artifactId, name(number)), ...draft }))
  }
  const before = await store.readStorage(ann)
  await store.removeAccount(bob)
  t.match(rowsIn(data), { message: 2 * many - 100, leftover: 1 }, 'one turn removes only so many')

  t.same(
    (await store.listAccounts()).map(({ id }) => id),
    [ann]
  )
  t.equal(await store.readRole(bob), 'missing')
  t.equal(await store.removeAccount(bob), 'missing')
  t.match(await safekeepingOf(store).inspect(), { accounts: 1, sessions: 1, flaws: [] })
  t.same(await store.removeOldSessions(999, 9), [])
  t.same(
    (await store.sweepActive(999)).map(({ account }) => account),
    [ann, ann],
    'only who is there falls asleep'
  )
  const again = await store.signIn(signInAs('bob', { newAccount: v.parse(ids.accountId, 'bob again') }))
  t.match(again, { result: 'signed-in', created: true })
  const bobs = await newSession(store, v.parse(ids.accountId, 'bob again'), 'one')
  t.same(await store.readMessages(v.parse(ids.accountId, 'bob again'), bobs, { after: 0, limit: 9 }), { messages: [], more: false })

  await sweep(store)
  t.same(rowsIn(data), {
    ...{ message: many, usage_report: many, attachment: many, notice: many, delivery: many },
    ...{ attachment_piece: 1, access_key: 1, kv: 1, artifact: 1, session: 2, leftover: 0 }
  })
  t.match(await safekeepingOf(store).inspect(), { accounts: 2, flaws: [] })
  t.match(await store.findAccessKey(ann, { session, machine: machineId('m') }), { data: 'secret' })
  t.same(await store.readStorage(ann), before)
  t.same(Buffer.from(found(await store.readPiece(ann, session, attachmentOf(0), 0))).toString(), 'p')
  t.equal(found(await store.readMessages(ann, session, { after: many - 1, limit: 9 })).messages.length, 1)
})

t.test('the only account can be removed and created again while it is still being deleted', async t => {
  const store = await openIn(t, t.testdir())
  const ann = await newAccount(store, 'ann')
  await fullSession(store, ann, 'one')
  t.match(await store.removeAccount(ann), { tokens: [/./] })
  t.notOk(await store.hasAccounts())
  const again = v.parse(ids.accountId, 'ann again')
  t.match(await store.signIn(signInAs('ann', { newAccount: again, create: 'if-first' })), { result: 'signed-in', created: true })
  t.equal(await store.readRole(again), 'owner')
  await sweep(store)
  t.match(await safekeepingOf(store).inspect(), { accounts: 1, messages: 0, flaws: [] })
})
