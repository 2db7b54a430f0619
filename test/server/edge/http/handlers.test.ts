import { createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { cryptoReady, engine, signingKeypair, toBase64 } from '../../../../lib/crypto/index.ts'
import { unsupportedRoutes } from '../../../../lib/protocol/wire/routes/unsupported.ts'
import { type RouteName, routes } from '../../../../lib/protocol/wire/routes.ts'
import * as v from '../../../../lib/schema.ts'
import { fingerprintOfKey } from '../../../../lib/server/actions/account/signup.ts'
import type { Push } from '../../../../lib/server/push.ts'
import { next, Person, signInBody, signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

await cryptoReady()

const push: Push = async (_, tokens) => tokens.map(token => ({ token, outcome: 'delivered' as const }))
const server = await startServer(t, { push })

const untried = new Set(Object.keys(routes).filter(name => !Object.hasOwn(unsupportedRoutes, name)))

interface Asked {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
}

/** Sends what the route of this name takes; undefined in place of a person sends no token. */
async function send(name: RouteName, by: Person | undefined, { params = {}, query, body }: Asked, to = server) {
  untried.delete(name)
  const { method, path } = routes[name]
  const filled = path.replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
  const isBytes = body instanceof Uint8Array
  const response = await fetch(`${to.url}${filled}${query ? `?${new URLSearchParams(query)}` : ''}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
      ...(by && { authorization: `Bearer ${by.token}` })
    },
    ...(body !== undefined && { body: isBytes ? body.slice() : JSON.stringify(body) })
  })
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** The answer, which is exactly what the route promises. */
async function ask(t: Test, name: RouteName, by: Person | undefined, asked: Asked = {}, to = server): Promise<Untyped> {
  const { status, bytes } = await send(name, by, asked, to)
  t.equal(status, 200, `${name} is answered`)
  const body = JSON.parse(bytes.toString())
  t.same(v.safeParse(routes[name].reply as v.GenericSchema, body), { success: true, data: body }, `${name} answers what it promises`)
  return body
}

/** The text of the refusal with this status. */
async function refused(t: Test, name: RouteName, by: Person | undefined, asked: Asked, status: number, to = server) {
  const answer = await send(name, by, asked, to)
  t.equal(answer.status, status, `${name} is refused`)
  return JSON.parse(answer.bytes.toString()).error
}

const newKey = () => toBase64(engine.boxKeypair().publicKey)

t.test('an account is signed in, shown and changed', async t => {
  const secret = randomBytes(32)
  const { token } = await ask(t, 'signIn', undefined, { body: await signInBody(secret) })
  const ada = new Person(t, server, secret, token)
  t.equal((await ask(t, 'readProfile', ada)).id, ada.id)
  t.same(await ask(t, 'readSettings', ada), { settings: null, settingsVersion: 0 })
  t.same(await ask(t, 'writeSettings', ada, { body: { settings: 'a', expectedVersion: 0 } }), { success: true, version: 1 })
  t.same(await ask(t, 'writeSettings', ada, { body: { settings: 'b', expectedVersion: 0 } }), {
    success: false,
    error: 'version-mismatch',
    currentVersion: 1,
    currentSettings: 'a'
  })
  t.same(await ask(t, 'readSettings', ada), { settings: 'a', settingsVersion: 1 })
  await ask(t, 'setLegacyLogin', ada, { body: { legacyLogin: 'once' } })
  t.same(await ask(t, 'readLegacyLogin', ada), { legacyLogin: 'once' })
  const session = await ada.openSession()
  t.match(await ask(t, 'readStorage', ada), { sessions: 1, messages: 0 })
  t.match(await ask(t, 'readSessionSizes', ada), { sessions: [{ id: session }] })

  const { nonce } = await ask(t, 'issueNonce', undefined)
  const claim = { deviceKey: newKey(), origin: server.url, nonce, signature: toBase64(randomBytes(64)) }
  const publicKey = toBase64(signingKeypair(secret).publicKey)
  t.equal(await refused(t, 'removeOwnAccount', ada, { body: { ...claim, publicKey } }, 401), 'Invalid signature')
  const fresh = { ...claim, purpose: 'sign-in', publicKey }
  t.equal(await refused(t, 'freshSignIn', undefined, { body: fresh }, 401), 'Invalid signature')
})

t.test('terminals and devices of existing clients are paired [A7]', async t => {
  const ada = await signUp(t, server)
  for (const [poll, answer] of [
    ['pollTerminalPairing', 'answerTerminalPairing'],
    ['pollDevicePairing', 'answerDevicePairing']
  ] as const) {
    const publicKey = newKey()
    const statusOf = async () => (await ask(t, 'readPairingStatus', undefined, { query: { publicKey } })).status
    t.equal(await statusOf(), 'not_found')
    t.same(await ask(t, poll, undefined, { body: { publicKey } }), { state: 'requested' })
    if (poll === 'pollTerminalPairing') t.equal(await statusOf(), 'pending')
    await ask(t, answer, ada, { body: { publicKey, response: 'c2VhbGVk' } })
    t.match(await ask(t, poll, undefined, { body: { publicKey } }), { state: 'authorized', response: 'c2VhbGVk' })
  }
})

t.test('a pairing with a check code is asked for, shown, and approved or rejected [A7]', async t => {
  const ada = await signUp(t, server)
  const pollSecret = randomBytes(32)
  const pollHash = createHash('sha256').update(pollSecret).digest('base64')
  const body = { kind: 'terminal', publicKey: newKey(), deviceKey: newKey(), pollHash, deviceName: 'laptop' }
  const { id } = await ask(t, 'askPairing', undefined, { body })
  const params = { id }
  t.match(await ask(t, 'readPairing', ada, { params }), { kind: 'terminal', name: 'laptop', state: 'waiting', publicKey: body.publicKey })
  const poll = { params, body: { pollSecret: toBase64(pollSecret) } }
  t.same(await ask(t, 'pollPairing', undefined, poll), { state: 'waiting' })
  const approval = { response: 'c2VhbGVk', signature: toBase64(randomBytes(64)), origin: server.url }
  t.equal(await refused(t, 'approvePairing', ada, { params, body: approval }, 401), 'Invalid signature')
  await ask(t, 'rejectPairing', ada, { params, body: {} })
  t.equal(await refused(t, 'pollPairing', undefined, poll, 410), 'Request has expired')
})

t.test('devices and named tokens are listed, named and removed', async t => {
  const ada = await signUp(t, server)
  const { devices } = await ask(t, 'listDevices', ada)
  const params = { id: devices[0].id }
  await ask(t, 'renameDevice', ada, { params, body: { name: 'my phone' } })
  t.match(await ask(t, 'listDevices', ada), { devices: [{ ...params, name: 'my phone' }] })
  const { id, token } = await ask(t, 'createToken', ada, { body: { name: 'a program', scopes: ['read'] } })
  t.match(await ask(t, 'listTokens', ada), { tokens: [{ id, name: 'a program', scopes: ['read'] }] })
  const program = new Person(t, server, ada.secret, token)
  await ask(t, 'listSessions', program)
  await ask(t, 'revokeToken', ada, { params: { id } })
  t.equal((await send('listSessions', program, {})).status, 401)
  await ask(t, 'removeDevice', ada, { params })
  t.equal((await send('listSessions', ada, {})).status, 401)
})

t.test('the owner lets people in by request and by invitation [A9]', async t => {
  const own = await startServer(t, { signup: 'approve' })
  const secret = randomBytes(32)
  const setupCode = own.setupCode?.code
  const { token } = await ask(t, 'signIn', undefined, { body: { ...(await signInBody(secret)), setupCode } }, own)
  const owner = new Person(t, own, secret, token)
  const askToEnter = async () => {
    const body = await signInBody(randomBytes(32))
    t.equal(await refused(t, 'signIn', undefined, { body }, 403, own), 'pending')
    return { fingerprint: fingerprintOfKey(Buffer.from(body.publicKey, 'base64').toString('hex').toUpperCase()) }
  }
  const [one, other] = [await askToEnter(), await askToEnter()]
  const waiting = async () => (await ask(t, 'listSignups', owner, {}, own)).signups.map(({ fingerprint }: Untyped) => ({ fingerprint }))
  t.same((await waiting()).length, 2)
  await ask(t, 'approveSignup', owner, { params: one }, own)
  t.same(await waiting(), [other])
  await ask(t, 'rejectSignup', owner, { params: other }, own)
  t.same(await waiting(), [])

  const { invite, code } = await ask(t, 'createInvite', owner, { body: { label: 'for Ben' } }, own)
  t.equal(invite.label, 'for Ben')
  const nameless = await ask(t, 'createInvite', owner, { body: {} }, own)
  t.equal(nameless.invite.label, '')
  await ask(t, 'openInvite', undefined, { body: { code } }, own)
  await ask(t, 'revokeInvite', owner, { params: { id: nameless.invite.id } }, own)
  t.match(await ask(t, 'listInvites', owner, {}, own), { invites: [{ id: invite.id, state: 'open' }] })
})

t.test('sessions are opened, listed in all ways, archived and removed', async t => {
  const ada = await signUp(t, server)
  const draft = (tag: string) => ({ tag, metadata: `m ${tag}`, agentState: 'state', dataEncryptionKey: 'key' })
  const { session } = await ask(t, 'openSession', ada, { body: draft('a') })
  t.match(session, { metadata: 'm a', agentState: 'state', dataEncryptionKey: 'key', seq: 0 })
  const { session: other } = await ask(t, 'openSession', ada, { body: draft('b') })
  const ids = [other.id, session.id].toSorted().toReversed()
  const idsOf = ({ sessions }: Untyped) => sessions.map(({ id }: Untyped) => id)
  t.same(
    idsOf(await ask(t, 'listSessions', ada))
      .toSorted()
      .toReversed(),
    ids
  )
  t.equal(idsOf(await ask(t, 'listActiveSessions', ada, { query: { limit: '1' } })).length, 1)
  const page = await ask(t, 'pageSessions', ada, { query: { limit: '1' } })
  t.match(page, { hasNext: true, sessions: [{ id: ids[0] }] })
  t.match(await ask(t, 'pageSessions', ada, { query: { limit: '1', cursor: page.nextCursor } }), {
    hasNext: false,
    nextCursor: null,
    sessions: [{ id: ids[1] }]
  })
  const params = { id: session.id }
  await ask(t, 'archiveSession', ada, { params, body: {} })
  t.same(idsOf(await ask(t, 'listActiveSessions', ada)), [other.id])
  await ask(t, 'removeSession', ada, { params })
  t.same(idsOf(await ask(t, 'listSessions', ada)), [other.id])
})

t.test('messages are stored, read forwards and back, and marked as received', async t => {
  const ada = await signUp(t, server)
  const params = { id: await ada.openSession() }
  const messages = ['a', 'b', 'c'].map(localId => ({ localId, content: `text ${localId}` }))
  const receipts = await ask(t, 'appendMessages', ada, { params, body: { messages } })
  t.match(
    receipts.messages,
    messages.map(({ localId }, index) => ({ id: `${params.id}-${index + 1}`, localId, seq: index + 1 }))
  )
  const record = (index: number) => ({ ...receipts.messages[index], content: { t: 'encrypted', c: messages[index]?.content } })
  t.same(await ask(t, 'readMessages', ada, { params, query: { after_seq: '1', limit: '1' } }), { messages: [record(1)], hasMore: true })
  t.same(await ask(t, 'readMessages', ada, { params, query: { before_seq: '2' } }), { messages: [record(0)], hasMore: false })
  t.same(await ask(t, 'readLatestMessages', ada, { params }), { messages: [record(2), record(1), record(0)] })
  const marked = { deliveredSeq: 2, readSeq: 1 }
  t.same(await ask(t, 'markReceipts', ada, { params, body: marked }), marked)
  const changes = await ask(t, 'readChanges', ada, { query: { since: '0' } })
  t.match(changes, { complete: true, sessions: [{ id: params.id, ...marked }] })
  t.match(await ask(t, 'readChanges', ada, { query: { since: '1', epoch: 'another' } }), { complete: false })
})

t.test('machines are registered, read and removed, and have a key for each session', async t => {
  const ada = await signUp(t, server)
  const draft = { id: 'laptop', metadata: 'meta', daemonState: 'on', dataEncryptionKey: 'key' }
  const { machine } = await ask(t, 'openMachine', ada, { body: draft })
  t.match(machine, draft)
  t.same(await ask(t, 'listMachines', ada), [{ ...machine, seq: 0 }])
  const params = { id: 'laptop' }
  t.same(await ask(t, 'readMachine', ada, { params }), { machine: { ...machine, seq: 0 } })

  const place = { params: { sessionId: await ada.openSession(), machineId: 'laptop' } }
  t.same(await ask(t, 'readAccessKey', ada, place), { accessKey: null })
  const added = await ask(t, 'addAccessKey', ada, { ...place, body: { data: 'a' } })
  t.match(added.accessKey, { data: 'a', dataVersion: 1 })
  t.same(await ask(t, 'readAccessKey', ada, place), { accessKey: added.accessKey })
  const write = { ...place, body: { data: 'b', expectedVersion: 1 } }
  t.same(await ask(t, 'writeAccessKey', ada, write), { success: true, version: 2 })
  t.same(await ask(t, 'writeAccessKey', ada, write), {
    success: false,
    error: 'version-mismatch',
    currentVersion: 2,
    currentData: 'b'
  })
  await ask(t, 'removeMachine', ada, { params })
  t.same(await ask(t, 'listMachines', ada), [])
})

t.test('artifacts are written in part or whole, and a conflict shows what is stored [X4]', async t => {
  const ada = await signUp(t, server)
  const draft = { id: crypto.randomUUID(), header: 'h1', body: 'b1', dataEncryptionKey: 'key' }
  const artifact = await ask(t, 'openArtifact', ada, { body: draft })
  t.match(artifact, draft)
  const { body, bodyVersion, ...head } = artifact
  t.same(await ask(t, 'listArtifacts', ada), [head])
  const params = { id: draft.id }
  t.same(await ask(t, 'readArtifact', ada, { params }), artifact)
  const write = (parts: object) => ask(t, 'writeArtifact', ada, { params, body: parts })
  t.same(await write({ header: 'h2', expectedHeaderVersion: 1 }), { success: true, headerVersion: 2 })
  t.same(await write({ body: 'b2', expectedBodyVersion: 1 }), { success: true, bodyVersion: 2 })
  const conflict = { success: false, error: 'version-mismatch' }
  t.same(await write({ header: 'h3', expectedHeaderVersion: 1, body: 'b3', expectedBodyVersion: 2 }), {
    ...conflict,
    currentHeaderVersion: 2,
    currentHeader: 'h2'
  })
  t.same(await write({ header: 'h3', expectedHeaderVersion: 2, body: 'b3', expectedBodyVersion: 1 }), {
    ...conflict,
    currentBodyVersion: 2,
    currentBody: 'b2'
  })
  t.same(await write({ header: 'h3', expectedBodyVersion: 2 }), { success: true }, 'half a part is none')
  t.match(await ask(t, 'readArtifact', ada, { params }), { header: 'h2', body: 'b2' })
  await ask(t, 'removeArtifact', ada, { params })
  t.same(await ask(t, 'listArtifacts', ada), [])
})

t.test('an attachment is uploaded at once or in parts, and downloaded', async t => {
  const ada = await signUp(t, server)
  const id = await ada.openSession()
  const bytes = randomBytes(2_000)
  const place = async () => {
    const { ref, uploadUrl, method } = await ask(t, 'requestUpload', ada, { params: { id }, body: { size: bytes.length } })
    t.equal(method, 'PUT')
    t.equal(uploadUrl, `${server.url}/v1/${ref}`)
    return { ref, uploadUrl, params: { id, file: uploadUrl.split('/').at(-1) } }
  }
  const whole = await place()
  await ask(t, 'uploadAttachment', ada, { params: whole.params, body: bytes })
  t.same(await ask(t, 'requestDownload', ada, { params: { id }, body: { ref: whole.ref } }), { downloadUrl: whole.uploadUrl })
  t.ok((await send('downloadAttachment', ada, { params: whole.params })).bytes.equals(bytes))
  const unknown = { params: { id }, body: { ref: whole.ref.replace(/[0-9a-f]{12}\.enc$/, '000000000000.enc') } }
  t.equal(await refused(t, 'requestDownload', ada, unknown, 404), 'Attachment not found')

  const { params } = await place()
  const size = bytes.length
  t.same(await ask(t, 'readUpload', ada, { params }), { offset: 0, size, complete: false })
  t.match(await ask(t, 'continueUpload', ada, { params, query: { at: '0' }, body: bytes }), { offset: size, size })
  const sha256 = createHash('sha256').update(bytes).digest('base64url')
  await ask(t, 'finishUpload', ada, { params, body: { sha256 } })
  t.same(await ask(t, 'readUpload', ada, { params }), { offset: size, size, complete: true })
})

t.test('values under keys are written together, and a conflict names each [X5]', async t => {
  const ada = await signUp(t, server)
  const mutate = (...mutations: object[]) => send('mutateKv', ada, { body: { mutations } })
  const one = { key: 'a', value: 'x', version: -1 }
  t.same(await ask(t, 'mutateKv', ada, { body: { mutations: [one] } }), { success: true, results: [{ key: 'a', version: 0 }] })
  const { status, bytes } = await mutate(one, { key: 'b', value: 'y', version: 3 })
  t.equal(status, 409)
  t.same(JSON.parse(bytes.toString()), {
    success: false,
    errors: [
      { key: 'a', error: 'version-mismatch', version: 0, value: 'x' },
      { key: 'b', error: 'version-mismatch', version: -1, value: null }
    ]
  })
  const stored = { key: 'a', value: 'x', version: 0 }
  t.same(await ask(t, 'readKvKey', ada, { params: { key: 'a' } }), stored)
  t.same(await ask(t, 'readKv', ada, { body: { keys: ['a', 'b'] } }), { values: [stored] })
  t.same(await ask(t, 'listKv', ada, { query: { prefix: 'a' } }), { items: [stored] })
  t.same(await ask(t, 'listKv', ada, { query: { prefix: 'b' } }), { items: [] })
})

t.test('devices are registered for notifications, set up, notified and removed', async t => {
  const ada = await signUp(t, server)
  await ask(t, 'addPushToken', ada, { body: { token: 'phone' } })
  await ask(t, 'addPushToken', ada, { body: { token: 'old phone' } })
  t.match((await ask(t, 'listPushTokens', ada)).tokens.map(({ token }: Untyped) => token).toSorted(), ['old phone', 'phone'])
  await ask(t, 'removePushToken', ada, { params: { token: 'old phone' } })
  t.match(await ask(t, 'listPushTokens', ada), { tokens: [{ token: 'phone' }] })
  t.match(await ask(t, 'readPushKey', ada), { key: /^[\w-]{80,}$/ })
  await ask(t, 'acknowledgePush', ada, { body: { receipt: 'unknown' } })
  await ask(t, 'writeNotifications', ada, { body: { settings: { finished: 'silent' } } })
  const { settings, channels } = await ask(t, 'readNotifications', ada)
  t.match(settings, { finished: 'silent' })
  t.equal(channels.length, 1)
  const [{ id }] = channels
  t.match(await ask(t, 'testNotification', ada, { body: { channel: id } }), { channels: [{ id, outcome: 'accepted' }] })
  t.equal(await refused(t, 'testNotification', ada, { body: { channel: 'unknown' } }, 404), 'This account has no such channel')
  const notice = { kind: 'permission', title: 'Claude', body: 'May I?' }
  t.match(await ask(t, 'notify', ada, { params: { id: await ada.openSession() }, body: notice }), { success: true, result: 'sent' })
  await ask(t, 'removeChannel', ada, { params: { id } })
  t.same((await ask(t, 'readNotifications', ada)).channels, [])
})

t.test('usage is summed, and a method is called', async t => {
  const ada = await signUp(t, server)
  const sessionId = await ada.openSession()
  const socket = await ada.connect({ clientType: 'session-scoped', sessionId })
  await socket.emitWithAck('usage-report', { key: 'k', sessionId, tokens: { total: 3 }, cost: { total: 1 } })
  t.match(await ask(t, 'queryUsage', ada, { body: { sessionId } }), { totalReports: 1, usage: [{ tokens: { total: 3 } }] })

  const method = `${sessionId}:run`
  const registered = next(socket, 'rpc-registered')
  socket.emit('rpc-register', { method })
  await registered
  socket.on('rpc-request', ({ params }, reply) => reply(`did ${params}`))
  t.same(await ask(t, 'callMethod', ada, { body: { method, params: 'it' } }), { result: 'did it' })
})

t.test('every route has an answer here', async t => {
  t.same([...untried], [])
})
