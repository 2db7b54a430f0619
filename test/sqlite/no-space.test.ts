import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import * as ids from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { readMigrations } from '../../lib/store/migrate.ts'
import type { Store } from '../../lib/store/store.ts'
import { openDatabase } from '../../sqlite/file/database.ts'
import { storeIn } from '../../sqlite/store.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { draft, machineId, newAccount, newMachine, newSession, sealed, sessionId, signInAs, tokenDraft } from '../store/contract/kit.ts'

const artifact = v.parse(ids.artifactId, 'a')
const attachment = v.parse(ids.attachmentId, '0d9f1c0a-0000-4000-8000-00000000000f.enc')
const key = v.parse(ids.kvKey, 'k')

/** A store with one of everything, whose disk was full a moment ago. */
async function fullStore(t: Test) {
  const file = join(memoryFolder(t), 'data', 'afield.db')
  const dataDirectory = dirname(file)
  const onBroken = (reason: Error) => t.fail(reason.message)
  const { database, close } = await openDatabase(file, { dataDirectory, migrations: readMigrations('sqlite/'), clock: () => 1 })
  const store = storeIn(database, close, { file, dataDirectory, onBroken, clock: () => 1 })
  t.teardown(() => store.close())
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  const machine = machineId('m')
  await newMachine(store, ann, machine)
  await store.openArtifact(ann, { id: artifact, header: sealed('h'), body: sealed('b'), dataKey: sealed('k'), now: 1 })
  await store.openUpload(ann, session, { id: attachment, size: 9, now: 1, endsAt: 99 })
  await store.mutateKv(ann, [{ key, value: sealed('x'), version: -1 }], 1)
  await store.addAccessKey(ann, { session, machine }, sealed('x'), 1)
  await store.addToken(ann, tokenDraft('named', 'named'))

  const reserve = join(dataDirectory, 'reserve')
  writeFileSync(reserve, 'some space')
  database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`)
  await t.rejects(store.appendMessages(ann, session, [draft('x'.repeat(100_000))], 1), { name: 'StoreFull' })
  database.pragma('max_page_count = 100000')
  t.notOk(existsSync(reserve), 'the reserve is used for what follows')
  return { store, ann, session, machine }
}

type World = Awaited<ReturnType<typeof fullStore>>
const growing: Record<string, (world: World) => Promise<unknown>> = {
  'a session': ({ store, ann }) => newSession(store, ann),
  'a session with a state only': ({ store, ann }) =>
    store.openSession(ann, { id: sessionId('s'), tag: 't', metadata: sealed(''), agentState: sealed('x'), dataKey: null, now: 1 }),
  'a machine': ({ store, ann }) => newMachine(store, ann, machineId('another')),
  'a machine with a state only': ({ store, ann }) =>
    store.openMachine(ann, { id: machineId('third'), metadata: sealed(''), daemonState: sealed('x'), dataKey: null, now: 1 }),
  messages: ({ store, ann, session }) => store.appendMessages(ann, session, [draft('x')], 1),
  'a cell': ({ store, ann }) => store.writeCell(ann, { of: 'account', name: 'settings' }, 0, sealed('x'), 1),
  'a value': ({ store, ann }) => store.mutateKv(ann, [{ key, value: sealed('y'), version: 0 }], 1),
  'an artifact': ({ store, ann }) =>
    store.openArtifact(ann, { id: v.parse(ids.artifactId, 'b'), header: sealed('h'), body: sealed('b'), dataKey: sealed('k'), now: 1 }),
  'a header': ({ store, ann }) => store.writeArtifact(ann, artifact, { header: { expected: 1, value: sealed('x') } }, 1),
  'a body': ({ store, ann }) => store.writeArtifact(ann, artifact, { body: { expected: 1, value: sealed('x') } }, 1),
  'a piece of a file': ({ store, ann, session }) =>
    store.appendPiece(ann, session, attachment, { attempt: 0, at: 0, bytes: Buffer.from('x'), now: 2, endsAt: 99 }),
  'an access key': ({ store, ann, session }) => store.addAccessKey(ann, { session, machine: machineId('another') }, sealed('x'), 1),
  'a new access key': ({ store, ann, session, machine }) => store.writeAccessKey(ann, { session, machine }, 1, sealed('y'), 1),
  usage: ({ store, ann }) => store.putUsageReport(ann, { id: 'u', key: 'u', session: null, tokens: {}, cost: {}, now: 1 }),
  'a notice': ({ store, ann, session }) => store.addNotice(ann, noticeIn(session)),
  'a token for a program': ({ store, ann }) => store.addToken(ann, tokenDraft('named'))
}

const going: Record<string, (world: World) => Promise<unknown>> = {
  'a sign-in': ({ store }) => store.signIn(signInAs('ann', { token: () => tokenDraft('account', 'later') })),
  'a used token': ({ store }) => store.markTokensUsed([{ token: tokenDraft('named', 'named').id, at: 9, from: '10.0.0' }]),
  'a revocation': ({ store, ann }) => store.revokeToken(ann, tokenDraft('named', 'named').id),
  presence: ({ store, ann, session }) => store.markActive([{ account: ann, row: { of: 'session', id: session }, active: false, at: 2 }]),
  'a cell without a value': ({ store, ann }) => store.writeCell(ann, { of: 'account', name: 'settings' }, 0, null, 1),
  'a value removed': ({ store, ann }) => store.mutateKv(ann, [{ key, value: null, version: 0 }], 1),
  'an artifact removed': ({ store, ann }) => store.remove(ann, { of: 'artifact', id: artifact }),
  'a machine removed': ({ store, ann, machine }) => store.remove(ann, { of: 'machine', id: machine }),
  'a session removed': ({ store, ann, session }) => store.remove(ann, { of: 'session', id: session }),
  leftovers: ({ store }) => store.sweepLeftovers(1),
  'an account removed': ({ store, ann }) => store.removeAccount(ann)
}

t.test('after the disk was full, everything that grows is rejected, and what ends or removes something works [F1]', async t => {
  const world = await fullStore(t)
  for (const [what, write] of Object.entries(growing)) await t.rejects(write(world), { name: 'StoreFull' }, what)
  const { store, ann, session } = world
  t.match(await store.readMessages(ann, session, { after: 0, limit: 9 }), { messages: [] })
  for (const [what, write] of Object.entries(going)) await t.resolves(write(world), what)
  t.same(await store.listAccounts(), [])
})

function noticeIn(session: Parameters<Store['addNotice']>[1]['session']): Parameters<Store['addNotice']>[1] {
  return { id: 'n', kind: 'done', session, title: 'Done', body: '', preview: null, now: 1, expiresAt: 99, deliveries: [] }
}
