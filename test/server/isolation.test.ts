import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { events } from '../../lib/protocol/wire/events.ts'
import { routes } from '../../lib/protocol/wire/routes.ts'
import { type Person, signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { listen } from './heard.ts'

/** What the victim has, by the kind of id that names it. */
interface Belongings {
  session: string
  machine: string
  token: string
  device: string
  pushToken: string
  channel: string
  kvKey: string
  artifact: string
  /** With its session, as in the path. */
  attachment: string
  account: string
}

type Kind = keyof Belongings

/** An id of each kind that nobody has, as long as the one it stands beside. */
const missing: Belongings = {
  channel: 'abcdefghijklmnopqrstuvwx',
  attachment: `abcdefghijklmnopqrstuvwx/attachments/${randomUUID()}.enc`,
  session: 'abcdefghijklmnopqrstuvwx',
  machine: 'no-such-machine',
  token: 'abcdefghijklmnopqrstuvwx',
  device: 'abcdefghijklmnopqrstuvwx',
  pushToken: 'ExponentPushToken[none]',
  kvKey: 'secret.nobody',
  artifact: randomUUID(),
  account: 'abcdefghijklmnopqrstuvwx'
}

/** Ids of the stranger's own, for what stands beside a foreign one. */
const own = { session: '', machine: 'own-machine' }

/** One place of a route where an id stands: the kind of it, and what is asked around it. */
interface Place {
  kind: Kind
  /** When the path has other parameters too, or the id is not in it. */
  path?: (id: string) => string
  body?: object | ((id: string) => object)
}

const keyOf = (session: string, machine: string) => `/v1/access-keys/${session}/${machine}`
const accessKey = (body?: object): Place[] => [
  { kind: 'session', path: id => keyOf(id, own.machine), ...(body && { body }) },
  { kind: 'machine', path: id => keyOf(own.session, id), ...(body && { body }) }
]
/** In the session it belongs to, and in one of the stranger's own. */
const attachment = (suffix: string, body = {}): Place[] => [
  { kind: 'attachment', path: id => `/v1/sessions/${decodeURIComponent(id)}${suffix}`, body },
  { kind: 'attachment', path: id => `/v1/sessions/${decodeURIComponent(id).replace(/^[^/]*/, own.session)}${suffix}`, body }
]
const artifactBody = { header: 'evil', expectedHeaderVersion: 1, body: 'evil', expectedBodyVersion: 1 }

/**
 * Every route that takes an id of a row, wherever it stands. A route with parameters that is not here fails the build.
 * A cursor of sessions is a place in the order of ids: nothing is looked up by it, and its answer depends on that order alone.
 */
const idRoutes: Partial<Record<keyof typeof routes, Place | Place[]>> = {
  revokeToken: { kind: 'token' },
  removeDevice: { kind: 'device' },
  renameDevice: { kind: 'device', body: { name: 'evil' } },
  archiveSession: { kind: 'session' },
  removeSession: { kind: 'session' },
  readLatestMessages: { kind: 'session' },
  readMessages: { kind: 'session' },
  appendMessages: { kind: 'session', body: { messages: [{ localId: 'evil', content: 'evil' }] } },
  notify: { kind: 'session', body: { kind: 'done', title: 'evil', body: 'evil' } },
  markReceipts: { kind: 'session', body: { deliveredSeq: 1, readSeq: 1 } },
  readMachine: { kind: 'machine' },
  removeMachine: { kind: 'machine' },
  removePushToken: { kind: 'pushToken' },
  removeChannel: { kind: 'channel' },
  readKvKey: { kind: 'kvKey' },
  listKv: { kind: 'kvKey', path: id => `/v1/kv?prefix=${id}` },
  readKv: { kind: 'kvKey', body: id => ({ keys: [id] }) },
  mutateKv: [
    { kind: 'kvKey', body: id => ({ mutations: [{ key: id, value: 'evil', version: 0 }] }) },
    { kind: 'kvKey', body: id => ({ mutations: [{ key: id, value: 'evil', version: -1 }] }) }
  ],
  requestUpload: { kind: 'session', body: { size: 1 } },
  uploadAttachment: attachment(''),
  readUpload: attachment('/upload'),
  continueUpload: attachment('/upload?at=0'),
  finishUpload: attachment('/upload', { sha256: 'e'.repeat(43) }),
  requestDownload: {
    kind: 'attachment',
    path: id => `/v1/sessions/${decodeURIComponent(id).split('/')[0]}/attachments/request-download`,
    body: id => ({ ref: `sessions/${id}` })
  },
  downloadAttachment: attachment(''),
  readArtifact: { kind: 'artifact' },
  openArtifact: { kind: 'artifact', body: id => ({ id, header: 'evil', body: 'evil', dataEncryptionKey: 'evil' }) },
  writeArtifact: { kind: 'artifact', body: artifactBody },
  removeArtifact: { kind: 'artifact' },
  readAccessKey: accessKey(),
  addAccessKey: accessKey({ data: 'evil' }),
  writeAccessKey: accessKey({ data: 'evil', expectedVersion: 1 }),
  queryUsage: { kind: 'session', body: sessionId => ({ sessionId }) },
  readUser: { kind: 'account' }
}
/** Routes whose parameter names no row of an account; those of the owner are proved in test/server/actions/account/owner.test.ts. */
// A request to be paired is nobody's until it is approved, and its id is known to whoever was shown its link.
const pairingRoutes = ['readPairing', 'pollPairing', 'approvePairing', 'rejectPairing']
const routesWithoutIds = [
  'registerVendorToken',
  'readVendorToken',
  'removeVendorToken',
  'approveSignup',
  'rejectSignup',
  'revokeInvite',
  ...pairingRoutes
]

/** Every event that takes one. Those without an entry below take none. */
const idEvents: Partial<Record<keyof typeof events, { kind: Kind; payload: (id: string) => object }>> = {
  'update-metadata': { kind: 'session', payload: sid => ({ sid, metadata: 'evil', expectedVersion: 0 }) },
  'update-state': { kind: 'session', payload: sid => ({ sid, agentState: 'evil', expectedVersion: 0 }) },
  'session-alive': { kind: 'session', payload: sid => ({ sid, time: Date.now(), thinking: true }) },
  'session-end': { kind: 'session', payload: sid => ({ sid, time: Date.now() }) },
  message: { kind: 'session', payload: sid => ({ sid, message: 'evil', localId: 'evil' }) },
  'machine-alive': { kind: 'machine', payload: machineId => ({ machineId, time: Date.now() }) },
  'machine-update-metadata': { kind: 'machine', payload: machineId => ({ machineId, metadata: 'evil', expectedVersion: 1 }) },
  'machine-update-state': { kind: 'machine', payload: machineId => ({ machineId, daemonState: 'evil', expectedVersion: 0 }) },
  'rpc-register': { kind: 'session', payload: sid => ({ method: `${sid}:abort` }) },
  'rpc-unregister': { kind: 'session', payload: sid => ({ method: `${sid}:abort` }) },
  partial: { kind: 'session', payload: sid => ({ sid, partial: 'evil' }) },
  'usage-report': { kind: 'session', payload: sessionId => ({ key: 'k', sessionId, tokens: { total: 9 }, cost: { total: 9 } }) },
  'artifact-read': { kind: 'artifact', payload: artifactId => ({ artifactId }) },
  'artifact-update': {
    kind: 'artifact',
    payload: artifactId => ({ artifactId, header: { data: 'evil', expectedVersion: 1 }, body: { data: 'evil', expectedVersion: 1 } })
  },
  'artifact-delete': { kind: 'artifact', payload: artifactId => ({ artifactId }) },
  'artifact-create': { kind: 'artifact', payload: id => ({ id, header: 'evil', body: 'evil', dataEncryptionKey: 'evil' }) },
  'access-key-get': { kind: 'machine', payload: machineId => ({ sessionId: own.session, machineId }) }
}
const eventsWithoutIds = ['ping', 'app-state']
// A call names a method and no row; test/server/actions/calls/calls.test.ts has it.
const provedElsewhere = ['rpc-call']

async function startWorld(t: Test) {
  const server = await startServer(t)
  const [victim, mallory] = [await signUp(t, server), await signUp(t, server)]
  const session = await victim.openSession()
  await victim.send(session, { localId: 'first' })
  await victim.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  await victim.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[mine]' } })
  const artifact = randomUUID()
  await victim.call('POST', '/v1/artifacts', { body: { id: artifact, header: 'h', body: 'b', dataEncryptionKey: 'k' } })
  await victim.call('POST', '/v1/kv', { body: { mutations: [{ key: 'secret.victim', value: 'x', version: -1 }] } })
  await victim.call('POST', keyOf(session, 'laptop'), { body: { data: 'secret' } })
  const report = { key: 'k', sessionId: session, tokens: { total: 1 }, cost: { total: 1 } }
  await (await victim.connect()).emitWithAck('usage-report', report)
  const again = await signUp(t, server, victim.secret)
  const { tid } = JSON.parse(atob(again.token.split('.')[1] ?? ''))
  const [{ id: device }] = (await victim.call('GET', '/v1/devices')).body.devices
  const { ref } = (await victim.call('POST', `/v1/sessions/${session}/attachments/request-upload`, { body: { size: 4 } })).body
  const [{ id: channel }] = (await victim.call('GET', '/v1/notifications')).body.channels
  const named = { channel, kvKey: 'secret.victim', artifact, attachment: ref.replace('sessions/', ''), account: victim.id }
  const owned: Belongings = { session, machine: 'laptop', token: tid, device, pushToken: 'ExponentPushToken[mine]', ...named }
  own.session = await mallory.openSession()
  await mallory.call('POST', '/v1/machines', { body: { id: own.machine, metadata: 'x' } })
  return { server, victim, mallory, owned }
}

/** Everything an account can read of itself that a stranger might change. */
async function everythingOf(person: Person, { session, machine, artifact, attachment }: Belongings): Promise<unknown> {
  const paths = [
    '/v1/sessions',
    `/v3/sessions/${session}/messages`,
    '/v1/machines',
    '/v1/push-tokens',
    '/v1/account/settings',
    '/v1/account/storage',
    '/v1/account/storage/sessions'
  ]
  paths.push(`/v1/sessions/${attachment}/upload`, '/v1/kv', '/v1/artifacts', `/v1/artifacts/${artifact}`, keyOf(session, machine))
  const all: unknown[] = []
  for (const path of paths) all.push((await person.call('GET', path)).body)
  all.push((await person.call('POST', '/v1/usage/query')).body)
  const { body } = await person.call('GET', '/v1/devices')
  all.push(body.devices.map((row: { id: string; name: string }) => `${row.id} ${row.name}`).toSorted())
  return all
}

/** Status, headers and body, without what tells only when. */
async function answerTo(
  server: { url: string },
  { token }: Person,
  method: string,
  path: string,
  body: object | undefined,
  id: string
): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && method !== 'GET' && { body: JSON.stringify(body) })
  })
  const headers = [...response.headers].filter(([name]) => name !== 'date')
  return { status: response.status, headers, body: withoutTimes(await response.text(), id) }
}

// What was asked is repeated in answers, and the stranger's own clock goes on with what it makes in its own account.
function withoutTimes(text: string, id: string): string {
  return text.replaceAll(id, '<id>').replace(/"(seq|createdAt|updatedAt)":\d+|"id":"[a-z0-9]{12}"/g, '')
}

t.test('every route with an id has its row here [I1]', async t => {
  const withParams = Object.entries(routes).filter(([, { path }]) => path.includes(':'))
  const listed = [...Object.keys(idRoutes), ...routesWithoutIds]
  t.same(
    withParams.map(([name]) => name).filter(name => !listed.includes(name)),
    []
  )
})

t.test('every event with an id has its row here [I1]', async t => {
  const listed = [...Object.keys(idEvents), ...eventsWithoutIds, ...provedElsewhere]
  t.same(listed.toSorted(), Object.keys(events).toSorted())
})

t.test('on every route a foreign id is answered like a missing one, and changes nothing [I1, I4]', async t => {
  const { server, victim, mallory, owned } = await startWorld(t)
  const heard = listen(await victim.connect())
  await heard.settled()
  const before = await everythingOf(victim, owned)
  for (const [name, places] of Object.entries(idRoutes)) {
    const { method, path } = routes[name as keyof typeof routes]
    for (const { kind, body, path: pathOf = (id: string) => path.replace(/:\w+/, id) } of [places].flat()) {
      const ask = async (id: string) => {
        const sent = typeof body === 'function' ? body(id) : body
        return answerTo(server, mallory, method, pathOf(encodeURIComponent(id)), sent, id)
      }
      t.same(await ask(owned[kind]), await ask(missing[kind]), `${method} ${path} with a ${kind}`)
    }
  }
  t.same(await everythingOf(victim, owned), before)
  await heard.settled()
  t.same([heard.updates, heard.ephemerals], [[], []])
})

t.test('on every event a foreign id is answered like a missing one, and changes nothing [I1, I2, I4]', async t => {
  const { victim, mallory, owned } = await startWorld(t)
  const heard = listen(await victim.connect())
  const scopes = [
    {},
    { clientType: 'session-scoped', sessionId: owned.session },
    { clientType: 'machine-scoped', machineId: owned.machine }
  ]
  const before = await everythingOf(victim, owned)
  for (const scope of scopes) {
    const socket = await mallory.connect(scope)
    for (const [name, { kind, payload }] of Object.entries(idEvents)) {
      const ask = async (id: string) => {
        // Whatever else the server says to the one who asks.
        const said: unknown[] = []
        socket.onAny((event, body) => said.push([event, body]))
        let acknowledged: unknown = 'nothing'
        socket.emit(name, payload(id), (reply: unknown) => {
          acknowledged = reply
        })
        await socket.emitWithAck('ping')
        socket.offAny()
        return withoutTimes(JSON.stringify({ acknowledged, said }), id)
      }
      // A connection scoped to the id itself may register it: in its own account, where it reaches nobody else.
      if (name.startsWith('rpc-') && 'sessionId' in scope) continue
      if (name === 'partial' && 'sessionId' in scope) continue
      t.equal(await ask(owned[kind]), await ask(missing[kind]), `${name} as ${JSON.stringify(scope)}`)
    }
  }
  t.same(await everythingOf(victim, owned), before)
  await heard.settled()
  t.same([heard.updates, heard.ephemerals], [[], []])
})

t.test('the same tags, machine ids and localIds work in every account [I3, X3]', async t => {
  const { mallory, owned } = await startWorld(t)
  const session = await mallory.openSession()
  t.not(session, owned.session)
  t.equal((await mallory.send(session, { localId: 'first' })).body.messages[0].seq, 1)
  t.equal((await mallory.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'another' } })).body.machine.metadata, 'another')
})
