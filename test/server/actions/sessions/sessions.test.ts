import t from 'tap'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'

const success = { status: 200, body: { success: true } }
const notFound = { status: 404, body: { error: 'Session not found' } }
const now = 1_700_000_000_000

t.test('a new session has every field, stores the posted values, and is announced to apps', async t => {
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const app = await ada.connect()
  const told = next(app, 'update')
  const { status, body } = await ada.call('POST', '/v1/sessions', {
    body: { tag: 'one', metadata: 'meta', agentState: 'state', dataEncryptionKey: 'key' }
  })
  t.equal(status, 200)
  const { id } = body.session
  const record = {
    id,
    seq: 0,
    deliveredSeq: 0,
    readSeq: 0,
    metadata: 'meta',
    metadataVersion: 0,
    agentState: 'state',
    agentStateVersion: 0,
    dataEncryptionKey: 'key',
    active: true,
    activeAt: now,
    createdAt: now,
    updatedAt: now
  }
  t.same(body, { session: { ...record, lastMessage: null } })
  // Free of what ends it in a method name, and safe in a URL.
  t.match(id, /^[a-z2-7]{24}$/)
  const update = await told
  t.match(update, { id: /^[a-z0-9]{12,}$/, seq: 1, createdAt: now })
  t.same(update.body, { t: 'new-session', ...record })
  t.same((await ada.call('GET', '/v1/sessions')).body, { sessions: [{ ...record, lastMessage: null }] })
})

t.test('omitted fields are null', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const { body } = await ada.call('POST', '/v1/sessions', { body: { tag: 'one', metadata: 'meta' } })
  t.match(body.session, { agentState: null, agentStateVersion: 0, dataEncryptionKey: null })
})

t.test('the same tag is the same session, unchanged and not announced again', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const heard = listen(await ada.connect())
  const open = (more: object) => ada.call('POST', '/v1/sessions', { body: { tag: 'one', metadata: 'first', ...more } })
  const first = await open({})
  const again = await open({ metadata: 'second', agentState: 'x', dataEncryptionKey: 'y' })
  t.same(again, first)
  await heard.settled()
  t.equal(heard.updates.length, 1)
})

t.test('of many who open a tag at once, all get the same session', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const ids = await Promise.all(Array.from({ length: 20 }, () => ada.openSession('same')))
  t.equal(new Set(ids).size, 1)
})

t.test('a tag in another account is another session [I3]', async t => {
  const server = await startServer(t)
  const [ada, grace] = [await signUp(t, server), await signUp(t, server)]
  t.not(await ada.openSession('same'), await grace.openSession('same'))
})

t.test('sessions are listed by their last change, newest first, 150 of them', async t => {
  let time = now
  const server = await startServer(t, { now: () => time++ })
  const ada = await signUp(t, server)
  const ids: string[] = []
  for (let count = 0; count < 152; count += 1) ids.push(await ada.openSession())
  const [first = ''] = ids
  await ada.send(first, { localId: 'a' })
  const { body } = await ada.call('GET', '/v1/sessions')
  const listed = body.sessions.map((session: { id: string }) => session.id)
  t.same(listed, [first, ...ids.slice(1).toReversed()].slice(0, 150))
  t.equal(body.sessions[0].seq, 1)
  t.equal(body.sessions[0].lastMessage, null)
})

t.test('archiving makes a session inactive and notifies apps, every time', async t => {
  let time = now
  const server = await startServer(t, { now: () => time })
  const ada = await signUp(t, server)
  const app = await ada.connect()
  const session = await ada.openSession()
  for (let count = 0; count < 2; count += 1) {
    time += 1000
    const told = next(app, 'ephemeral')
    t.same(await ada.call('POST', `/v1/sessions/${session}/archive`), success)
    t.same(await told, { type: 'activity', id: session, active: false, activeAt: time, thinking: false })
  }
  const { body } = await ada.call('GET', '/v1/sessions')
  t.match(body.sessions[0], { active: false, activeAt: time, metadataVersion: 0 })
  t.same(await ada.call('POST', '/v1/sessions/unknown/archive'), notFound)
})

t.test('a session is removed with its messages; apps are notified, its process is not', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession('one')
  await ada.send(session, { localId: 'a' })
  const app = listen(await ada.connect())
  const process = listen(await ada.connect({ clientType: 'session-scoped', sessionId: session }))

  t.same(await ada.call('DELETE', `/v1/sessions/${session}`), success)
  await app.settled()
  const { body } = await ada.call('GET', '/v1/devices')
  const { id: by } = body.devices.find((device: { current: boolean }) => device.current)
  t.same(app.bodies('delete-session'), [{ t: 'delete-session', sid: session, by }], 'and by which device')
  await process.settled()
  t.same(process.updates, [])

  t.same(await ada.call('DELETE', `/v1/sessions/${session}`), { status: 404, body: { error: 'Session not found or not owned by user' } })
  t.same(await ada.call('GET', `/v3/sessions/${session}/messages`), notFound)
  t.same(await ada.send(session, { localId: 'b' }), notFound)
  const again = await ada.openSession('one')
  t.not(again, session, 'the tag is free')
  t.same((await ada.call('GET', `/v3/sessions/${again}/messages`)).body, { messages: [], hasMore: false })
})
