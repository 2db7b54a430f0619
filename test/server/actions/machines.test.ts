import t from 'tap'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { listen } from '../heard.ts'

const now = 1_700_000_000_000
const notFound = { status: 404, body: { error: 'Machine not found' } }
const success = { status: 200, body: { success: true } }

t.test('a new machine has every field at its first version, and is announced twice', async t => {
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const app = listen(await ada.connect())
  const machine = await ada.connect({ clientType: 'machine-scoped', machineId: 'laptop' })
  const daemon = listen(machine)
  const { status, body } = await ada.call('POST', '/v1/machines', {
    body: { id: 'laptop', metadata: 'meta', daemonState: 'state', dataEncryptionKey: 'key' }
  })
  t.equal(status, 200)
  const record = {
    metadata: 'meta',
    metadataVersion: 1,
    daemonState: 'state',
    daemonStateVersion: 1,
    dataEncryptionKey: 'key',
    active: false,
    activeAt: now,
    createdAt: now,
    updatedAt: now
  }
  t.same(body, { machine: { id: 'laptop', ...record } })
  const update = { t: 'update-machine', machineId: 'laptop', metadata: { value: 'meta', version: 1 } }
  await app.settled()
  t.same(app.bodies('new-machine'), [{ t: 'new-machine', machineId: 'laptop', seq: 0, ...record }])
  t.same(app.bodies('update-machine'), [update])
  await daemon.settled()
  t.same(
    daemon.updates.map(({ body }) => body),
    [update],
    'the machine itself is told of its metadata only'
  )
  t.same(await ada.call('GET', '/v1/machines'), { status: 200, body: [{ id: 'laptop', ...record, seq: 0 }] })
  t.same(await ada.call('GET', '/v1/machines/laptop'), { status: 200, body: { machine: { id: 'laptop', ...record, seq: 0 } } })
})

t.test('without a daemon state its version is 0', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const { body } = await ada.call('POST', '/v1/machines', { body: { id: 'm', metadata: 'x', daemonState: null } })
  t.match(body.machine, { metadataVersion: 1, daemonState: null, daemonStateVersion: 0, dataEncryptionKey: null })
})

t.test('the same id on the same account is the same machine, unchanged and not announced again', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const heard = listen(await ada.connect())
  const open = (metadata: string) => ada.call('POST', '/v1/machines', { body: { id: 'm', metadata } })
  const first = await open('first')
  t.same(await open('second'), first)
  await heard.settled()
  t.equal(heard.updates.length, 2)
})

t.test('the same id in another account is another machine [I3]', async t => {
  const server = await startServer(t)
  const [ada, grace] = [await signUp(t, server), await signUp(t, server)]
  const open = (person: typeof ada, metadata: string) => person.call('POST', '/v1/machines', { body: { id: 'same', metadata } })
  t.equal((await open(ada, 'hers')).body.machine.metadata, 'hers')
  t.equal((await open(grace, 'other')).body.machine.metadata, 'other')
  t.same(await grace.call('DELETE', '/v1/machines/same'), success)
  t.equal((await ada.call('GET', '/v1/machines/same')).status, 200)
})

t.test('a removed machine is gone, its sessions stay, and apps are notified', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/machines', { body: { id: 'm', metadata: 'x' } })
  const app = listen(await ada.connect())
  t.same(await ada.call('DELETE', '/v1/machines/m'), success)
  await app.settled()
  t.same(app.bodies('delete-machine'), [{ t: 'delete-machine', machineId: 'm' }])
  t.same(await ada.call('DELETE', '/v1/machines/m'), notFound)
  t.same(await ada.call('GET', '/v1/machines/m'), notFound)
  t.same(await ada.call('GET', '/v1/machines'), { status: 200, body: [] })
  t.equal((await ada.send(session, { localId: 'a' })).status, 200)
})

t.test('a machine without an id, with a huge one or without metadata is 400', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const body of [
    { metadata: 'x' },
    { id: '', metadata: 'x' },
    { id: 'x'.repeat(201), metadata: 'x' },
    { id: 'x' },
    { id: 'x', metadata: null }
  ]) {
    t.equal((await ada.call('POST', '/v1/machines', { body })).status, 400)
  }
})
