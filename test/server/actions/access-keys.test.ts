import t from 'tap'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'

const now = 1_700_000_000_000

t.test('the access key of a session on a machine is created once and replaced with its version [A.10, X4]', async t => {
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/machines', { body: { id: 'a laptop', metadata: 'x' } })
  const path = `/v1/access-keys/${session}/a%20laptop`
  const put = (data: string, expectedVersion: number) => ada.call('PUT', path, { body: { data, expectedVersion } })
  const socket = await ada.connect()
  const ask = () => socket.emitWithAck('access-key-get', { sessionId: session, machineId: 'a laptop' })
  const accessKey = { data: 'one', dataVersion: 1, createdAt: now, updatedAt: now }

  t.same(await ada.call('GET', path), { status: 200, body: { accessKey: null } })
  t.same(await ask(), { ok: true, accessKey: null })
  t.same(await put('x', 1), { status: 404, body: { error: 'Access key not found' } })
  t.same(await ada.call('POST', path, { body: { data: 'one' } }), { status: 200, body: { success: true, accessKey } })
  t.same(await ada.call('POST', path, { body: { data: 'two' } }), { status: 409, body: { error: 'Access key already exists' } })
  t.same(await ada.call('GET', path), { status: 200, body: { accessKey } })
  t.same(await ask(), { ok: true, accessKey })
  t.same(await put('two', 1), { status: 200, body: { success: true, version: 2 } })
  t.same(await put('three', 1), {
    status: 200,
    body: { success: false, error: 'version-mismatch', currentVersion: 2, currentData: 'two' }
  })
  for (const body of [{}, { data: 7 }]) t.equal((await ada.call('POST', path, { body })).status, 400)
  t.equal((await ada.call('PUT', path, { body: { data: 'x' } })).status, 400)
})

t.test('a key needs its session and machine, and is removed with either', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  const missing = { status: 404, body: { error: 'Session or machine not found' } }
  for (const path of [`/v1/access-keys/${session}/none`, '/v1/access-keys/none/laptop']) {
    t.same(await ada.call('GET', path), missing)
    t.same(await ada.call('POST', path, { body: { data: 'x' } }), missing)
    t.same(await ada.call('PUT', path, { body: { data: 'x', expectedVersion: 1 } }), missing)
  }
  const socket = await ada.connect()
  const refused = { ok: false, error: 'Session or machine not found' }
  t.same(await socket.emitWithAck('access-key-get', { sessionId: session, machineId: 'none' }), refused)
  t.same(await socket.emitWithAck('access-key-get', { sessionId: session }), { ok: false, error: 'Invalid parameters' })
  const path = `/v1/access-keys/${session}/laptop`
  await ada.call('POST', path, { body: { data: 'x' } })
  await ada.call('DELETE', '/v1/machines/laptop')
  t.same(await ada.call('GET', path), missing)
})
