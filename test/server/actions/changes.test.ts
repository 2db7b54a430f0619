import t, { type Test } from 'tap'
import { type Person, signUp, type Untyped } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'

async function startWorld(t: Test) {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const read = async (query: Record<string, string | number> = {}): Promise<Untyped> => changesOf(ada, query)
  return { server, ada, read }
}

async function changesOf(person: Person, query: Record<string, string | number>): Promise<Untyped> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))
  const { status, body } = await person.call('GET', `/v1/changes?${search}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

t.test('from 0 everything in an account is returned, and after that only changes', async t => {
  const { ada, read } = await startWorld(t)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'm' } })
  await ada.call('POST', '/v1/account/settings', { body: { settings: 'dark', expectedVersion: 0 } })
  await ada.call('POST', '/v1/kv', { body: { mutations: [{ key: 'k', value: 'v', version: -1 }] } })
  const artifact = { id: '0d5f2ab0-4f5d-4e0c-8f3a-000000000001', header: 'h', body: 'b', dataEncryptionKey: 'k' }
  await ada.call('POST', '/v1/artifacts', { body: artifact })
  const all = await read()
  const { epoch, clock } = all
  t.match(all, {
    complete: true,
    more: false,
    sessions: [{ id: session, seq: 0, metadata: 'bWV0YQ==', deliveredSeq: 0, readSeq: 0 }],
    machines: [{ id: 'laptop', metadata: 'm' }],
    settings: { value: 'dark', version: 1 },
    kv: [{ key: 'k', value: 'v', version: 0 }],
    artifacts: [{ id: artifact.id, header: 'h', headerVersion: 1 }],
    removed: [],
    active: { sessions: [{ id: session }], machines: [] }
  })
  t.notOk('body' in all.artifacts[0], 'heads only')

  const nothing = { complete: true, epoch, clock, sessions: [], machines: [], kv: [], artifacts: [], removed: [], more: false }
  t.match(await read({ since: clock, epoch }), nothing)
  await ada.send(session, { localId: 'a' }, { localId: 'b' })
  await ada.call('DELETE', '/v1/machines/laptop')
  t.match(await read({ since: clock, epoch }), {
    clock: clock + 3,
    sessions: [{ id: session, seq: 2 }],
    machines: [],
    removed: [{ of: 'machine', id: 'laptop' }]
  })
})

t.test('the clock is the seq of the last update', async t => {
  const { ada, read } = await startWorld(t)
  const app = await ada.connect()
  const seqs: number[] = []
  app.on('update', ({ seq }) => seqs.push(seq))
  const session = await ada.openSession()
  await ada.send(session, { localId: 'a' }, { localId: 'b' })
  await app.emitWithAck('ping')
  t.equal((await read()).clock, seqs.at(-1))
})

t.test('many rows come in pages, each row once', async t => {
  const { ada, read } = await startWorld(t)
  const sessions: string[] = []
  for (let count = 0; count < 5; count++) sessions.push(await ada.openSession())
  const told: string[] = []
  for (let query: Record<string, string | number> = {}; ; ) {
    const page = await read({ ...query, limit: 2 })
    told.push(...page.sessions.map(({ id }: { id: string }) => id))
    t.ok(page.sessions.length <= 2)
    t.equal(page.active === undefined, page.more, 'who is active is told at the end')
    if (!page.more) break
    query = { since: page.clock, began: page.began, epoch: page.epoch }
  }
  t.same(told, sessions)
})

t.test('a client from another epoch of the server starts over [O6]', async t => {
  const { server, ada, read } = await startWorld(t)
  await ada.openSession()
  const { epoch, clock } = await read()
  t.same(await read({ since: clock + 1, epoch }), { complete: false, epoch, clock })
  t.same(await read({ since: clock, epoch: 'of-a-copy' }), { complete: false, epoch, clock })
  t.same(await read({ since: clock }), { complete: false, epoch, clock })
  t.ok(server.url)
})

t.test('an invalid request is rejected', async t => {
  const { ada } = await startWorld(t)
  for (const query of ['since=-1', 'since=x', 'limit=0', 'limit=501', 'began=1.5', `since=${'9'.repeat(16)}`, `epoch=${'e'.repeat(65)}`]) {
    t.equal((await ada.call('GET', `/v1/changes?${query}`)).status, 400, query)
  }
})

t.test('nothing of another account is returned [I1, I2]', async t => {
  const { server, ada } = await startWorld(t)
  const session = await ada.openSession()
  await ada.call('DELETE', `/v1/sessions/${await ada.openSession()}`)
  const eve = await signUp(t, server)
  const { epoch } = await changesOf(ada, {})
  const told = await changesOf(eve, {})
  t.match(told, { clock: 0, sessions: [], removed: [], active: { sessions: [], machines: [] } })
  t.notMatch(JSON.stringify([told, await changesOf(eve, { since: 1, epoch })]), session)
})
