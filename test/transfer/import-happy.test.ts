import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  contentSecretKey,
  openBlob,
  openLegacy,
  openWithDataKey,
  sealLegacy,
  sealWithDataKey,
  unwrapDataKey
} from '../../lib/crypto/index.ts'
import { cryptoReady, signInKeypair } from '../../lib/crypto/sign.ts'
import { openStore, openTransfer } from '../../lib/store/open.ts'
import { transferTables } from '../../lib/store/transfer.ts'
import { type ImportAsk, importHappy } from '../../lib/transfer/import-happy.ts'
import { afield } from '../bin/kit/afield.ts'
import { type Person, signUp } from '../kit/person.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../kit/postgres.ts'
import { startServer } from '../kit/server.ts'
import { newAccount } from '../store/contract/kit.ts'
import { type Insert, makeHappyDatabase } from './happy-tables.ts'

/** What Happy's own clients made of known secrets. */
const vectors = JSON.parse(readFileSync('test/fixtures/vectors.json', 'utf8'))
const bytesOf = ({ hex }: { hex: string }) => Buffer.from(hex, 'hex')
const secret = bytesOf(vectors.signIn.masterSecret)
const [wrapped] = vectors.wrappedDataKey
const dataKey = bytesOf(wrapped.dataKey)
const [metadata] = vectors.dataKeyEnvelope
const [hello] = vectors.legacyEnvelope
const file = '0d9f1c0a-0000-4000-8000-00000000000f.enc'
const artifact = 'a1b2c3d4-0000-4000-8000-000000000001'

t.test('importing a Happy server', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  await cryptoReady()

  t.test('an existing client signs in with its account key and reads everything back', async t => {
    const from = await happyDatabase(postgres, fillAnn)
    const data = t.testdir({ bucket: { sessions: { 'session-1': { attachments: {} } } }, data: {} })
    const bucket = join(data, 'bucket')
    writeFileSync(join(bucket, 'sessions/session-1/attachments', file), bytesOf(vectors.attachmentBlob.stored))
    for (const store of ['sqlite:afield.db', await postgres.makeDatabase()]) {
      const place = join(data, 'data')
      const { counts, remarks } = await runImport({ from, store, data: place, attachments: bucket })
      t.same(
        Object.values(counts).map(({ imported }) => imported),
        [1, 2, 4, 1, 1, 1, 2, 2, 1, 1],
        store
      )
      t.match(remarks, [/oldest, becomes the owner/, /^A usage report claude without a session is left out: there is a newer one/])
      const server = await startServer(t, { data: place, store, signup: 'closed' })
      await readEverything(t, await signUp(t, server, secret))
      await server.close()
    }
  })

  t.test('several runs double nothing, and accounts that exist are named and left alone', async t => {
    const from = await happyDatabase(postgres, fillAnn)
    const data = t.testdir()
    await runImport({ from, data })
    const before = await contentOf(data)
    const { counts, remarks } = await runImport({ from, data })
    t.match(counts, { accounts: { imported: 0, leftOut: 1 }, messages: { imported: 0 } })
    t.match(remarks, [/^Account ann is left out: it is here already/])
    t.equal(remarks.length, 1)
    t.same(await contentOf(data), before)

    const other = t.testdir()
    const opened = await openStore('sqlite:afield.db', { dataDirectory: other, onBroken() {} })
    await newAccount(opened, 'here before')
    await opened.close()
    const second = await runImport({ from, data: other })
    t.match(second, { counts: { accounts: { imported: 1 } }, remarks: [/^A usage report/] })
    t.match(
      (await contentOf(other))['account']?.map(({ id, role }) => [id, role]),
      [
        ['account-here before', 'owner'],
        ['ann', 'member']
      ]
    )
  })

  t.test('numbers stay, except those that are taken: they get the next ones, and none gets a lower one', async t => {
    const from = await happyDatabase(postgres, async insert => {
      await addAccount(insert, 'ann', secret)
      await addSession(insert, 'ann', 'odd', { seq: 9 })
      for (const [seq, id, at] of [
        [2, 'b', 2],
        [2, 'c', 1],
        [0, 'a', 9],
        [3, 'd', 3],
        [7, 'e', 4]
      ] as const)
        await addMessage(insert, 'odd', { id, seq, localId: id, createdAt: new Date(at) })
    })
    const data = t.testdir()
    const { remarks } = await runImport({ from, data })
    t.match(remarks, [/oldest, becomes the owner/, /^Session odd: 3 messages got a higher number/])
    const { message, session, account } = await contentOf(data)
    t.same(
      message?.map(({ seq, local_id }) => [seq, local_id]),
      [
        [1, 'a'],
        [2, 'c'],
        [3, 'b'],
        [4, 'd'],
        [7, 'e']
      ]
    )
    t.match(session, [{ last_seq: 9, gaps: 4 }])
    t.match(account, [{ messages: 5, bytes: 5 * 4 }])

    const server = await startServer(t, { data })
    const ann = await signUp(t, server, secret)
    t.match((await ann.send('odd', { localId: 'next' })).body.messages, [{ seq: 10 }])
    t.equal((await ann.call('DELETE', '/v1/sessions/odd')).status, 200)
    t.match((await ann.call('GET', '/v1/account/storage')).body, { messages: 0, bytes: { messages: 0 } })
  })

  t.test('what does not fit is named and left out, and a check says the same and writes nothing', async t => {
    const long = 'x'.repeat(300)
    const from = await happyDatabase(postgres, async insert => {
      await addAccount(insert, 'ann', secret)
      await addAccount(insert, 'bob', randomBytes(32), { publicKey: 'not a key' })
      await addSession(insert, 'ann', 'good')
      await addSession(insert, 'ann', `bad-${long}`)
      await addMessage(insert, 'good', { id: 'plain', seq: 1, content: { t: 'plain', text: 'readable' } })
      await addMessage(insert, 'good', { id: 'unnamed', seq: 2, localId: long })
      await insert('Machine', { id: long, accountId: 'ann', metadata: 'm' })
      await insert('AccessKey', { accountId: 'ann', machineId: long, sessionId: 'good', data: 'd' })
      await insert('UsageReport', { key: 'k', accountId: 'ann', data: { tokens: { total: 'many' }, cost: {} } })
      await insert('UsageReport', { key: 'k', accountId: 'ann', sessionId: 'gone', data: { tokens: {}, cost: {} } })
      await insert('UserKVStore', { accountId: 'ann', key: '', value: Buffer.from('v') })
      await insert('UserKVStore', { accountId: 'ann', key: 'one\u0001\u0001two', value: Buffer.from('v') })
      await insert('AccountPushToken', { accountId: 'ann', token: '' })
      await insert('Artifact', { id: long, accountId: 'ann', header: Buffer.of(1), body: Buffer.of(2), dataEncryptionKey: Buffer.of(3) })
    })
    const root = t.testdir({ bucket: { sessions: { good: { attachments: { 'other.txt': 'x', [file]: '' } } } } })
    const [data, attachments] = [join(root, 'data'), join(root, 'bucket')]
    const check = await runImport({ from, data, attachments, isCheck: true })
    t.notOk(existsSync(data), 'nothing is created')
    const done = await runImport({ from, data, attachments })
    t.same(check, done)
    t.same(
      Object.values(done.counts).map(({ imported, leftOut }) => [imported, leftOut]),
      [
        [1, 1],
        [1, 1],
        [1, 1],
        [0, 1],
        [0, 1],
        [0, 1],
        [1, 1],
        [0, 2],
        [0, 1],
        [0, 2]
      ]
    )
    t.equal(done.remarks.filter(remark => remark.includes('is left out')).length, 12)
    t.ok(done.remarks.some(remark => remark.startsWith('Message unnamed of session good is imported without the id of its sender')))
    t.match(await contentOf(data), {
      ...{ message: [{ seq: 2, local_id: null }], machine: [], session: [{ id: 'good' }] },
      kv: [{ name: 'one\u0001\u0001two' }]
    })
  })

  t.test('an account of which something cannot be written is not there at all, and the next run brings it', async t => {
    const from = await happyDatabase(postgres, fillAnn)
    const data = t.testdir()
    const target = await postgres.makeDatabase()
    await runImport({ from: await happyDatabase(postgres, async () => {}), store: target, data })
    const [, name = ''] = new URL(target).pathname.split('/')
    await postgres.query('ALTER TABLE usage_report ADD CONSTRAINT none CHECK (name IS NULL)', name)
    await t.rejects(runImport({ from, store: target, data }))
    t.same(await postgres.query('SELECT (SELECT count(*)::int FROM account) AS accounts, count(*)::int AS messages FROM message', name), [
      { accounts: 0, messages: 0 }
    ])
    await postgres.query('ALTER TABLE usage_report DROP CONSTRAINT none', name)
    t.match(await runImport({ from, store: target, data }), { counts: { accounts: { imported: 1 }, messages: { imported: 4 } } })
  })

  t.test('a stopped import leaves a store that a server can use, and the next run goes on', async t => {
    const from = await happyDatabase(postgres, async insert => {
      await fillAnn(insert)
      await addAccount(insert, 'bob', randomBytes(32))
    })
    const [data, store] = [t.testdir(), await postgres.makeDatabase()]
    const controller = new AbortController()
    const stopped = runImport({ from, data, store, signal: controller.signal, tell: () => controller.abort() })
    await t.rejects(stopped, { name: 'CannotStart', exitCode: 130, message: /^Stopped\. Run the same command again/ })
    const server = await startServer(t, { data, store })
    const ann = await signUp(t, server, secret)
    t.not(await ann.openSession(), 'session-1')
    t.not((await signUp(t, server)).id, 'ann')
    await server.close()
    t.match(await runImport({ from, data, store }), { counts: { accounts: { imported: 1, leftOut: 1 } } })
  })

  t.test('the command ends with a table and says who becomes the owner', async t => {
    const from = await happyDatabase(postgres, async insert => {
      await addAccount(insert, 'ann', secret)
      await addAccount(insert, 'bob', randomBytes(32))
    })
    const data = t.testdir()
    const { status, stdout, stderr } = await afield(['import-happy', from, '--data', data, '--owner', 'bob'])
    t.equal(status, 0, stderr)
    t.match(stdout, /imported +left out\n +accounts +2 +0\n +sessions +0 +0\n/)
    t.match(stdout, /apps sign in again by themselves/)
    t.match((await contentOf(data))['account']?.map(({ id, role }) => [id, role]).toSorted(), [
      ['ann', 'member'],
      ['bob', 'owner']
    ])
    const checked = await afield(['import-happy', from, '--data', data, '--check'])
    t.match(checked.stdout, /would be imported +left out\n +accounts +0 +2\n.*Nothing was written\.\n$/s)
    const again = await afield(['import-happy', from, '--data', data])
    t.match(again.stdout, /imported +left out\n +accounts +0 +2\n/)
    t.notMatch(again.stdout, /apps sign in again/, 'everything was here before')
  })

  t.test('a database that is none of Happy, an unknown owner or a folder without sessions is rejected in a sentence', async t => {
    const data = t.testdir({ empty: {} })
    const from = await happyDatabase(postgres, fillAnn)
    const wrong = (ask: Partial<ImportAsk>) => runImport({ from, data, ...ask })
    await t.rejects(wrong({ from: await postgres.makeDatabase() }), {
      name: 'CannotStart',
      message: /not one of a Happy server: it has no table Account/
    })
    await t.rejects(wrong({ from: 'sqlite:x.db' }), { name: 'CannotStart', message: /Give the database of the Happy server as postgres:/ })
    await t.rejects(wrong({ owner: 'nobody' }), { name: 'CannotStart', message: /no account nobody/ })
    await t.rejects(wrong({ attachments: join(data, 'empty') }), { name: 'CannotStart', message: /has no folder "sessions"/ })
    await t.rejects(wrong({ store: from }), { name: 'CannotStart', message: /is not one of Afield/ })
    const server = await startServer(t, { data })
    await t.rejects(wrong({}), { name: 'CannotStart', message: /Another Afield server is using/ })
    await server.close()
  })
})

function runImport(ask: Partial<ImportAsk> & Pick<ImportAsk, 'from' | 'data'>) {
  return importHappy({
    ...{ store: 'sqlite:afield.db', attachments: undefined, isCheck: false, owner: undefined },
    ...{ tell() {}, signal: new AbortController().signal },
    ...ask
  })
}

async function happyDatabase(postgres: Postgres, fill: (insert: Insert) => Promise<void>): Promise<string> {
  const url = await postgres.makeDatabase()
  await makeHappyDatabase(url, fill)
  return url
}

async function addAccount(insert: Insert, id: string, accountSecret: Uint8Array, more: object = {}): Promise<void> {
  const publicKey = Buffer.from(signInKeypair(accountSecret).publicKey).toString('hex').toUpperCase()
  await insert('Account', { id, publicKey, seq: 40, ...more })
}

function addSession(insert: Insert, accountId: string, id: string, more: object = {}): Promise<void> {
  return insert('Session', { id, tag: `tag of ${id}`, accountId, metadata: 'm', ...more })
}

function addMessage(
  insert: Insert,
  sessionId: string,
  { content = { t: 'encrypted', c: 'aGk=' }, ...more }: Record<string, unknown>
): Promise<void> {
  return insert('SessionMessage', { sessionId, content, ...more })
}

/** An account with one of everything, sealed as Happy's clients do. */
async function fillAnn(insert: Insert): Promise<void> {
  const settings = Buffer.from(sealLegacy(secret, { schemaVersion: 2, viewInline: true })).toString('base64')
  await addAccount(insert, 'ann', secret, { settings, settingsVersion: 3, firstName: 'Ann' })
  await addSession(insert, 'ann', 'session-1', {
    ...{ metadata: bytesOf(metadata.envelope).toString('base64'), metadataVersion: 4, seq: 3 },
    ...{ dataEncryptionKey: bytesOf(wrapped.dataEncryptionKey), createdAt: new Date(1_000), lastActiveAt: new Date(2_000) }
  })
  await addSession(insert, 'ann', 'session-2', {
    agentState: hello.envelope.base64,
    agentStateVersion: 2,
    seq: 1,
    createdAt: new Date(3_000)
  })
  for (const seq of [1, 2, 3])
    await addMessage(insert, 'session-1', { seq, localId: `local-${seq}`, content: encrypted(sealWithDataKey(dataKey, { seq })) })
  await addMessage(insert, 'session-2', { seq: 1, localId: null, content: encrypted(bytesOf(hello.envelope)), createdAt: new Date(5_000) })
  await insert('Machine', {
    id: 'machine-1',
    accountId: 'ann',
    metadata: hello.envelope.base64,
    metadataVersion: 2,
    daemonState: 'ZA==',
    daemonStateVersion: 5
  })
  await insert('Artifact', {
    ...{ id: artifact, accountId: 'ann', header: sealWithDataKey(dataKey, { title: 'a list' }), headerVersion: 2 },
    ...{
      body: sealWithDataKey(dataKey, { body: 'milk' }),
      bodyVersion: 3,
      dataEncryptionKey: bytesOf(wrapped.dataEncryptionKey),
      seq: 6
    }
  })
  await insert('AccessKey', { accountId: 'ann', machineId: 'machine-1', sessionId: 'session-1', data: 'c2VhbGVk', dataVersion: 7 })
  await insert('UserKVStore', { accountId: 'ann', key: 'there', value: Buffer.from('value'), version: 2 })
  await insert('UserKVStore', { accountId: 'ann', key: 'gone', value: null, version: 5 })
  const sums = { tokens: { total: 10, input: 4 }, cost: { total: 0.5 } }
  await insert('UsageReport', { key: 'claude', accountId: 'ann', sessionId: 'session-1', data: sums })
  await insert('UsageReport', { key: 'claude', accountId: 'ann', sessionId: null, data: sums, updatedAt: new Date(2_000) })
  const older = { tokens: { total: 1_000 }, cost: {} }
  await insert('UsageReport', { key: 'claude', accountId: 'ann', sessionId: null, data: older, updatedAt: new Date(1_000) })
  await insert('AccountPushToken', { accountId: 'ann', token: 'ExponentPushToken[abc]' })
}

function encrypted(bytes: Uint8Array): { t: string; c: string } {
  return { t: 'encrypted', c: Buffer.from(bytes).toString('base64') }
}

async function readEverything(t: Test, ann: Person): Promise<void> {
  t.equal(ann.id, 'ann')
  const get = async (path: string) => (await ann.call('GET', path)).body
  const fromBase64 = (text: string) => Buffer.from(text, 'base64')

  const { settings, settingsVersion } = await get('/v1/account/settings')
  t.equal(settingsVersion, 3)
  t.match(openLegacy(secret, fromBase64(settings)), { ok: true, value: { viewInline: true } })

  const { sessions } = await get('/v1/sessions')
  const [one, two] = ['session-1', 'session-2'].map(id => sessions.find((session: { id: string }) => session.id === id))
  t.match(one, { seq: 3, metadataVersion: 4, active: false, createdAt: 1_000, activeAt: 2_000 })
  const key = unwrapDataKey(fromBase64(one.dataEncryptionKey), contentSecretKey(secret)) ?? new Uint8Array()
  t.same(Buffer.from(key), dataKey)
  t.match(openWithDataKey(key, fromBase64(one.metadata)), { ok: true, value: JSON.parse(metadata.plaintext) })
  t.match(two, { seq: 1, dataEncryptionKey: null, agentState: hello.envelope.base64, agentStateVersion: 2 })

  const { messages } = await get('/v3/sessions/session-1/messages?after_seq=0')
  for (const [index, { seq, localId, content }] of messages.entries()) {
    t.match([seq, localId, content.t], [index + 1, `local-${index + 1}`, 'encrypted'])
    t.match(openWithDataKey(key, fromBase64(content.c)), { ok: true, value: { seq } })
  }
  const { messages: legacy } = await get('/v3/sessions/session-2/messages?before_seq=2147483647')
  t.match(legacy, [{ seq: 1, localId: null, createdAt: 5_000 }])
  t.match(openLegacy(secret, fromBase64(legacy[0].content.c)), { ok: true, value: JSON.parse(hello.plaintextJson) })

  t.match(await get('/v1/machines'), [
    { id: 'machine-1', metadata: hello.envelope.base64, metadataVersion: 2, daemonState: 'ZA==', daemonStateVersion: 5 }
  ])
  const document = await get(`/v1/artifacts/${artifact}`)
  t.match(document, { headerVersion: 2, bodyVersion: 3, seq: 6 })
  t.match(openWithDataKey(dataKey, fromBase64(document.body)), { ok: true, value: { body: 'milk' } })
  t.match(await get('/v1/access-keys/session-1/machine-1'), { accessKey: { data: 'c2VhbGVk', dataVersion: 7 } })
  t.match(await get('/v1/kv/there'), { value: Buffer.from('value').toString('base64'), version: 2 })
  const revived = { mutations: [{ key: 'gone', value: 'bmV3', version: 5 }] }
  t.match((await ann.call('POST', '/v1/kv', { body: revived })).body, { success: true, results: [{ version: 6 }] })
  t.match((await ann.call('POST', '/v1/usage/query', { body: {} })).body, { totalReports: 2, usage: [{ tokens: { total: 20 } }] })
  t.match(await get('/v1/push-tokens'), { tokens: [{ token: 'ExponentPushToken[abc]' }] })

  const ref = `sessions/session-1/attachments/${file}`
  const { downloadUrl } = (await ann.call('POST', '/v1/sessions/session-1/attachments/request-download', { body: { ref } })).body
  const stored = Buffer.from(await (await fetch(downloadUrl, { headers: { authorization: `Bearer ${ann.token}` } })).arrayBuffer())
  t.same(Buffer.from(openBlob(stored, bytesOf(vectors.attachmentBlob.blobKey)) ?? []), bytesOf(vectors.attachmentBlob.plaintext))

  const { body: changes } = await ann.call('GET', '/v1/changes?since=0')
  t.match(changes, { complete: true, sessions: [{}, {}] })
  t.ok(changes.clock > 40, 'the clock goes on above every number that clients have seen')
  t.match((await ann.send('session-1', { localId: 'local-3' }, { localId: 'local-4' })).body.messages, [{ seq: 3 }, { seq: 4 }])
}

/** All rows by table. */
async function contentOf(data: string): Promise<Record<string, readonly Record<string, unknown>[]>> {
  const transfer = await openTransfer('sqlite:afield.db', data)
  const content: Record<string, readonly Record<string, unknown>[]> = {}
  for (const table of transferTables) content[table.name] = await transfer.read(table, undefined)
  await transfer.close()
  return content
}
