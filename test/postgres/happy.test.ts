import t from 'tap'
import { openHappy } from '../../postgres/happy.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { type Insert, makeHappyDatabase } from '../transfer/happy-tables.ts'

t.test('the database of a Happy server', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  const all = <Row>(rows: AsyncIterable<Row>) => Array.fromAsync(rows)
  const times = { createdAt: new Date(1), updatedAt: new Date(2) }
  const read = { createdAt: 1, updatedAt: 2 }

  async function made(fill: (insert: Insert) => Promise<void> = async () => {}): Promise<string> {
    const url = await postgres.makeDatabase()
    await makeHappyDatabase(url, fill)
    return url
  }

  await t.test('is read in the order and form in which it is imported, by account and session', async t => {
    const url = await made(async insert => {
      const account = (id: string, createdAt: Date, more: object = {}) =>
        insert('Account', { id, publicKey: `key of ${id}`, ...times, createdAt, ...more })
      await account('bob', new Date(6))
      await account('ann', new Date(3), { seq: 7, settings: 'sealed', settingsVersion: 2 })
      await account('amy', new Date(6))
      const session = { accountId: 'ann', metadata: 'm', ...times, lastActiveAt: new Date(9) }
      await insert('Session', { ...session, id: 'two', tag: 'b', createdAt: new Date(2) })
      const cells = { metadataVersion: 3, agentState: 'state', agentStateVersion: 4, dataEncryptionKey: Buffer.from('key'), seq: 5 }
      await insert('Session', { ...session, id: 'one', tag: 'a', ...cells })
      await insert('Session', { ...session, id: 'of bob', tag: 'a', accountId: 'bob' })
      const message = { sessionId: 'one', content: { t: 'encrypted', c: 'x' }, ...times }
      for (const [id, seq] of Object.entries({ c: 2, b: 2, a: 3 }))
        await insert('SessionMessage', { ...message, id, seq, localId: `local ${id}` })
      await insert('SessionMessage', { ...message, id: 'd', seq: 2, createdAt: new Date(0), localId: null })
      await insert('SessionMessage', { ...message, id: 'e', seq: 1, sessionId: 'two' })
      const machine = { accountId: 'ann', metadata: 'm', ...times, lastActiveAt: new Date(9) }
      const states = { metadataVersion: 3, daemonState: 'state', daemonStateVersion: 4, dataEncryptionKey: Buffer.from('key') }
      await insert('Machine', { ...machine, id: 'laptop', ...states })
      const parts = {
        header: Buffer.from('h'),
        headerVersion: 1,
        body: Buffer.from('b'),
        bodyVersion: 2,
        dataEncryptionKey: Buffer.from('key')
      }
      await insert('Artifact', { accountId: 'ann', id: 'note', ...parts, seq: 6, ...times })
      const accessKey = { accountId: 'ann', data: 'd', dataVersion: 2, ...times }
      for (const machineId of ['n', 'm']) await insert('AccessKey', { ...accessKey, sessionId: 'one', machineId })
      await insert('UserKVStore', { accountId: 'ann', key: 'there', value: Buffer.from('v'), version: 3, ...times })
      await insert('UserKVStore', { accountId: 'ann', key: 'gone', value: null, version: 4, ...times })
      const usage = { accountId: 'ann', data: { tokens: { total: 5 } }, ...times }
      await insert('UsageReport', { ...usage, key: 'old', sessionId: null })
      await insert('UsageReport', { ...usage, key: 'new', sessionId: 'one', updatedAt: new Date(8) })
      await insert('AccountPushToken', { accountId: 'ann', token: 'later', ...times, createdAt: new Date(2) })
      await insert('AccountPushToken', { accountId: 'ann', token: 'first', ...times })
    })
    const happy = await openHappy(url)
    t.teardown(() => happy.close())
    t.equal(happy.others, 0)
    const none = { seq: 0, settings: null, settingsVersion: 0 }
    t.same(await all(happy.accounts()), [
      { id: 'ann', publicKey: 'key of ann', seq: 7, settings: 'sealed', settingsVersion: 2, createdAt: 3 },
      { id: 'amy', publicKey: 'key of amy', ...none, createdAt: 6 },
      { id: 'bob', publicKey: 'key of bob', ...none, createdAt: 6 }
    ])
    const [one, two] = await all(happy.sessions('ann'))
    t.same(one, {
      ...{ id: 'one', tag: 'a', metadata: 'm', metadataVersion: 3, agentState: 'state', agentStateVersion: 4 },
      ...{ dataKey: Buffer.from('key'), seq: 5, activeAt: 9, ...read }
    })
    t.match(two, { id: 'two', agentState: null, dataKey: null })
    t.match(await all(happy.sessions('bob')), [{ id: 'of bob' }])
    const content = { t: 'encrypted', c: 'x' }
    t.same(await all(happy.messages('one')), [
      { id: 'd', seq: 2, localId: null, content, createdAt: 0 },
      { id: 'b', seq: 2, localId: 'local b', content, createdAt: 1 },
      { id: 'c', seq: 2, localId: 'local c', content, createdAt: 1 },
      { id: 'a', seq: 3, localId: 'local a', content, createdAt: 1 }
    ])
    t.same(await all(happy.machines('ann')), [
      {
        ...{ id: 'laptop', metadata: 'm', metadataVersion: 3, daemonState: 'state', daemonStateVersion: 4 },
        ...{ dataKey: Buffer.from('key'), activeAt: 9, ...read }
      }
    ])
    t.same(await all(happy.artifacts('ann')), [
      {
        ...{ id: 'note', header: Buffer.from('h'), headerVersion: 1, body: Buffer.from('b'), bodyVersion: 2 },
        ...{ dataKey: Buffer.from('key'), seq: 6, ...read }
      }
    ])
    t.same(
      await all(happy.accessKeys('ann')),
      ['m', 'n'].map(machineId => ({ sessionId: 'one', machineId, data: 'd', dataVersion: 2, ...read }))
    )
    t.same(await all(happy.values('ann')), [
      { key: 'gone', value: null, version: 4, updatedAt: 2 },
      { key: 'there', value: Buffer.from('v'), version: 3, updatedAt: 2 }
    ])
    const data = { tokens: { total: 5 } }
    t.same(await all(happy.usage('ann')), [
      { key: 'new', sessionId: 'one', data, createdAt: 1, updatedAt: 8 },
      { key: 'old', sessionId: null, data, ...read }
    ])
    t.same(await all(happy.pushTokens('ann')), [
      { token: 'first', ...read },
      { token: 'later', createdAt: 2, updatedAt: 2 }
    ])
    for (const rows of [happy.machines, happy.artifacts, happy.accessKeys, happy.values, happy.usage, happy.pushTokens])
      t.same(await all<unknown>(rows('bob')), [])
  })

  await t.test('is read as it was when it was opened, also page by page, and other connections are counted', async t => {
    const url = await made(async insert => {
      await insert('Account', { id: 'ann', publicKey: 'key' })
      await insert('Session', { id: 's', tag: 't', accountId: 'ann', metadata: 'm' })
      for (let seq = 1; seq <= 200; seq++) await insert('SessionMessage', { id: `m${seq}`, sessionId: 's', seq, content: {} })
    })
    const one = await openHappy(url)
    t.teardown(() => one.close())
    const happy = await openHappy(url)
    t.teardown(() => happy.close())
    t.equal(happy.others, 1)
    await postgres.query(`INSERT INTO "Account" (id, "publicKey") VALUES ('late', 'late')`, nameOf(url))
    t.equal((await all(happy.accounts())).length, 1)
    t.same(
      (await all(happy.messages('s'))).map(({ seq }) => seq),
      Array.from({ length: 200 }, (_, index) => index + 1)
    )
    for await (const { seq } of happy.messages('s')) if (seq === 101) break
    t.equal((await all(happy.messages('s'))).length, 200, 'again, after a reader stopped in the middle')
  })

  await t.test('may lack the newer tables, and another database is rejected with one sentence', async t => {
    const older = await made()
    for (const table of ['Artifact', 'UserKVStore']) await postgres.query(`DROP TABLE "${table}"`, nameOf(older))
    const happy = await openHappy(older)
    t.same([await all(happy.artifacts('ann')), await all(happy.values('ann'))], [[], []])
    await happy.close()
    await postgres.query('ALTER TABLE "Machine" DROP COLUMN "daemonState"', nameOf(older))
    const changed = await openHappy(older)
    await t.rejects(all(changed.machines('ann')), {
      name: 'CannotStart',
      message: /The table Machine of that Happy server has other columns/
    })
    await changed.close()

    for (const table of ['SessionMessage', 'Session', 'Account']) {
      const url = await made()
      await postgres.query(`DROP TABLE "${table}" CASCADE`, nameOf(url))
      await t.rejects(openHappy(url), {
        name: 'CannotStart',
        message: new RegExp(`is not one of a Happy server: it has no table ${table}\\.$`)
      })
      // It left no connection behind.
      while ((await postgres.query(`SELECT FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`)).length > 0);
    }
    await t.rejects(openHappy('postgres://afield:secret@127.0.0.1:1/happy'), { name: 'CannotStart', message: /cannot be reached/ })
  })
})
