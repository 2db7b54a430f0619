import { randomUUID } from 'node:crypto'
import t from 'tap'
import { type Person, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { listen } from '../heard.ts'

const now = 1_700_000_000_000
const success = { status: 200, body: { success: true } }
const notFound = { status: 404, body: { error: 'Artifact not found' } }

const open = (person: Person, id: string, more: object = {}) =>
  person.call('POST', '/v1/artifacts', { body: { id, header: 'header', body: 'body', dataEncryptionKey: 'key', ...more } })
const write = (person: Person, id: string, body: object) => person.call('POST', `/v1/artifacts/${id}`, { body })

t.test('an artifact is created once, read in full, and listed without its body [A.10]', async t => {
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const app = listen(await ada.connect())
  const id = randomUUID()
  const head = { id, header: 'header', headerVersion: 1, dataEncryptionKey: 'key', seq: 0, createdAt: now, updatedAt: now }
  const record = { ...head, body: 'body', bodyVersion: 1 }
  t.same(await ada.call('GET', '/v1/artifacts'), { status: 200, body: [] })
  t.same(await open(ada, id), { status: 200, body: record })
  t.same(await open(ada, id, { header: 'other' }), { status: 200, body: record }, 'a repeat changes nothing')
  t.same(await ada.call('GET', '/v1/artifacts'), { status: 200, body: [head] })
  t.same(await ada.call('GET', `/v1/artifacts/${id}`), { status: 200, body: record })
  await app.settled()
  const { id: artifactId, ...rest } = record
  t.same(
    app.updates.map(({ body }) => body),
    [{ t: 'new-artifact', artifactId, ...rest }]
  )
})

t.test('parts are replaced by version, both or neither, and a mismatch is a 200 with the current value [X4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const app = listen(await ada.connect())
  const id = randomUUID()
  await open(ada, id)
  t.same(await write(ada, id, { header: 'h2', expectedHeaderVersion: 1 }), { status: 200, body: { success: true, headerVersion: 2 } })
  t.same(await write(ada, id, { header: 'h3', expectedHeaderVersion: 2, body: 'b2', expectedBodyVersion: 2 }), {
    status: 200,
    body: { success: false, error: 'version-mismatch', currentBodyVersion: 1, currentBody: 'body' }
  })
  t.same(await write(ada, id, { header: 'h3', expectedHeaderVersion: 1, body: 'b2', expectedBodyVersion: 2 }), {
    status: 200,
    body: {
      success: false,
      error: 'version-mismatch',
      currentHeaderVersion: 2,
      currentHeader: 'h2',
      currentBodyVersion: 1,
      currentBody: 'body'
    }
  })
  t.same(await write(ada, id, { header: 'h3', expectedHeaderVersion: 2, body: 'b2', expectedBodyVersion: 1 }), {
    status: 200,
    body: { success: true, headerVersion: 3, bodyVersion: 2 }
  })
  t.same(await write(ada, id, { header: 'ignored', body: 'ignored' }), success, 'a part without its expected version is ignored')
  t.match((await ada.call('GET', `/v1/artifacts/${id}`)).body, { header: 'h3', headerVersion: 3, body: 'b2', bodyVersion: 2, seq: 2 })
  await app.settled()
  t.same(app.bodies('update-artifact'), [
    { t: 'update-artifact', artifactId: id, header: { value: 'h2', version: 2 } },
    { t: 'update-artifact', artifactId: id, header: { value: 'h3', version: 3 }, body: { value: 'b2', version: 2 } }
  ])
})

t.test('a removed artifact is gone, apps are notified, and its id can be reused', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const app = listen(await ada.connect())
  const id = randomUUID()
  for (let count = 0; count < 2; count += 1) {
    await open(ada, id)
    await write(ada, id, { header: 'again', expectedHeaderVersion: 1 })
    t.same(await ada.call('DELETE', `/v1/artifacts/${id}`), success)
  }
  t.same(await ada.call('DELETE', `/v1/artifacts/${id}`), notFound)
  t.same(await ada.call('GET', `/v1/artifacts/${id}`), notFound)
  t.same(await write(ada, id, { header: 'x', expectedHeaderVersion: 1 }), notFound)
  t.same(await write(ada, id, {}), notFound)
  await app.settled()
  const life = ['new-artifact', 'update-artifact', 'delete-artifact']
  t.same(
    app.updates.map(({ body }) => body.t),
    [...life, ...life],
    'the first versions of its second life are told as well'
  )
})

t.test('the same id in another account is another artifact, never a conflict [I1, I3]', async t => {
  const server = await startServer(t)
  const [ada, mallory] = [await signUp(t, server), await signUp(t, server)]
  const id = randomUUID()
  await open(ada, id)
  t.same(await mallory.call('GET', `/v1/artifacts/${id}`), notFound)
  t.match(await open(mallory, id, { body: 'of mallory' }), { status: 200, body: { body: 'of mallory' } })
  t.same(await mallory.call('DELETE', `/v1/artifacts/${id}`), success)
  t.match((await ada.call('GET', `/v1/artifacts/${id}`)).body, { body: 'body', bodyVersion: 1 })
})

t.test('artifacts by socket: created, read, replaced, removed, rejected', async t => {
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const socket = await ada.connect()
  const id = randomUUID()
  const draft = { id, header: 'h', body: 'b', dataEncryptionKey: 'k' }
  const artifact = { ...draft, headerVersion: 1, bodyVersion: 1, seq: 0, createdAt: now, updatedAt: now }
  const missing = { result: 'error', message: 'Artifact not found', status: 404 }
  const ask = (event: string, body: unknown) => socket.emitWithAck(event, body)
  t.same(await ask('artifact-read', { artifactId: id }), missing)
  t.same(await ask('artifact-create', draft), { result: 'success', artifact })
  t.same(await ask('artifact-read', { artifactId: id }), { result: 'success', artifact })
  const header = { data: 'h2', expectedVersion: 1 }
  t.same(await ask('artifact-update', { artifactId: id, header }), { result: 'success', header: { version: 2, data: 'h2' } })
  t.same(await ask('artifact-update', { artifactId: id, header, body: { data: 'b2', expectedVersion: 1 } }), {
    result: 'version-mismatch',
    header: { version: 2, data: 'h2' }
  })
  t.same(await ask('artifact-delete', { artifactId: id }), { result: 'success' })
  t.same(await ask('artifact-delete', { artifactId: id }), missing)
  t.same(await ask('artifact-update', { artifactId: id, header }), missing)
  const invalid = { result: 'error', message: 'Invalid parameters' }
  for (const [event, body] of [
    ['artifact-read', {}],
    ['artifact-create', { ...draft, id: 'not a uuid' }],
    ['artifact-update', { artifactId: id }],
    ['artifact-delete', undefined]
  ] as const)
    t.same(await ask(event, body), invalid, event)
})

t.test('an artifact without a UUID, header, body or key is 400', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const more of [{ id: 'short' }, { id: undefined }, { header: null }, { body: undefined }, { dataEncryptionKey: null }]) {
    t.equal((await open(ada, randomUUID(), more)).status, 400)
  }
  t.equal((await write(ada, randomUUID(), { header: 'x', expectedHeaderVersion: -1 })).status, 400)
})
