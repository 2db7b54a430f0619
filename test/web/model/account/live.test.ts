import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { type Draft, newUserText, openMessage, sealDraft, serveMachine, signIn, writerOf } from '../../../../lib/client/index.ts'
import type { MessageRecord } from '../../../../lib/protocol/wire/records.ts'
import { worldAt } from '../../../client/world.ts'
import { startServer } from '../../../kit/server.ts'
import { openTcpProxy } from '../../../kit/tcp-proxy.ts'
import { until } from '../../kit/device.ts'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

/** What the app sends to the server over its socket. */
const frames: string[] = []
let onFrame = (_frame: string) => {}
class WatchedSocket extends WebSocket {
  override send(data: string | Uint8Array<ArrayBuffer>): void {
    frames.push(String(data))
    super.send(data)
    onFrame(String(data))
  }
}
const device = { onLine: true, userAgent: '', maxTouchPoints: 0 }
const page = pageGlobals(t, { navigator: device, WebSocket: WatchedSocket, BroadcastChannel: undefined })
Object.assign(page.document, { documentElement: { dataset: {} } })

const { currentDevice } = await import('../../../../web/model/account/devices.ts')
const { openLive } = await import('../../../../web/model/account/live.ts')
const { removals } = await import('../../../../web/model/account/removals.ts')
const { newStart } = await import('../../../../web/model/outbox/starts.ts')
const { newContinuation } = await import('../../../../web/model/outbox/continuations.ts')
const { connection, isStale } = await import('../../../../web/core/connection.ts')
const { isServerFull } = await import('../../../../web/core/free-space.ts')
const { flip } = await import('../../../../web/core/preferences.ts')
const { home, updateHome } = await import('../../../../web/model/home.ts')

let url: string
t.before(async () => {
  url = (await startServer(t)).url
})

/** The app of an account on a real server, connected, with one session and what it reported. */
async function start(t: Test, { expiresAt, known = [] }: { expiresAt?: number; known?: string[] } = {}) {
  device.onLine = true
  page.show(true)
  updateHome({ type: 'cleared' })
  for (const id of known) updateHome({ type: 'session', session: { ...sessionRow, id, metadata: undefined } })
  const world = await worldAt(t, url)
  const { session, key } = await world.openSession()
  const told: string[] = []
  frames.length = 0
  const line = await openTcpProxy(t, url)
  const signedIn = expiresAt === undefined ? { token: world.token } : await signIn({ server: url, secret: world.vault.secret, fetch })
  const live = await openLive({
    server: line.url,
    secret: world.vault.secret,
    kept: { ...signedIn, renewal: signedIn.renewal && { ...signedIn.renewal, expiresAt: expiresAt ?? 0 } },
    onRenewed: ({ token }) => void told.push(token === signedIn.token ? 'kept' : 'renewed'),
    onEnded: () => told.push('ended'),
    onStartedOver: () => told.push('started over'),
    me: () => 'Phone'
  })
  t.teardown(() => live.close())
  await until(connection, ({ type }) => type === 'live')
  const cipherOf = (id: string) => {
    const cipher = live.cipherOf(id)
    if (!cipher) throw new Error('no key')
    return cipher
  }
  return {
    ...{ ...world, line, live, told, session: session.id, key, cipherOf },
    say: (text: string, to = session.id) => sealDraft(cipherOf(session.id), to, newUserText(text)),
    /** The text of a stored message, as its wrapper reads it. */
    textOf({ content }: MessageRecord) {
      const opened = openMessage(key.cipher, { content })
      return opened.ok && opened.body.role === 'user' ? opened.body.content.text : undefined
    }
  }
}

/** The states that the app reported over its socket since this was last asked. */
const statesSent = () =>
  frames.splice(0).flatMap(frame => {
    const at = frame.indexOf('["app-state",')
    return at < 0 ? [] : JSON.parse(frame.slice(at))[1]
  })

t.test('what the server has appears on the screen, live, and what is removed elsewhere disappears with who did it', async t => {
  const { session, openSession, rest } = await start(t)
  t.match(home.value.sessions.get(session)?.metadata, { path: '/home', host: 'studio' })
  t.ok(home.value.asOf !== undefined && Math.abs(home.value.asOf - Date.now()) < 60_000)
  const { session: next } = await openSession({ path: '/next', host: 'studio' })
  await until(home, ({ sessions }) => sessions.has(next.id))
  await rest.call('removeSession', { params: { id: next.id } })
  await until(home, ({ sessions }) => !sessions.has(next.id))
  t.type(removals.value.get(next.id)?.at, 'number')
  t.same([...home.value.sessions.keys()], [session])
})

t.test('a machine is shown, and its calls are sealed with its own key', async t => {
  const { live, rest, vault } = await start(t)
  const { cipher, wrapped } = vault.newKey()
  const metadata = { host: 'studio', platform: 'linux', happyCliVersion: '1', homeDir: '/home', happyHomeDir: '/home/.happy' }
  await rest.call('openMachine', { body: { id: 'm1', metadata: cipher.seal(metadata), dataEncryptionKey: wrapped } })
  await until(home, ({ machines }) => machines.has('m1'))
  t.match(home.value.machines.get('m1')?.metadata, { host: 'studio' })
  const own = live.cipherOfMachine('m1')
  t.same(cipher.open(own?.seal('pears') ?? ''), { ok: true, value: 'pears' })
  t.equal(own?.pin?.isSet, false)
  t.equal(live.cipherOfMachine('m2'), undefined)
  await rest.call('removeMachine', { params: { id: 'm1' } })
  await until(home, ({ machines }) => !machines.has('m1'))
})

t.test('a message waits in the outbox until it is stored, and whoever listens gets it', async t => {
  const { live, session, say, textOf } = await start(t)
  const counts: number[] = []
  t.teardown(live.unsent.subscribe(drafts => counts.push(drafts.length)))
  const stored = Promise.withResolvers<[string | undefined, string]>()
  const heard: string[] = []
  live.onStored(([message], at) => stored.resolve([message && textOf(message), at]))
  live.onStored((_, at) => heard.push(at))()
  await live.outbox.put(say('Prune the pears'))
  t.same(await stored.promise, ['Prune the pears', session])
  await until(live.unsent, drafts => drafts.length === 0)
  t.same(counts, [0, 1, 0])
  t.same(heard, [], 'one that no longer listens does not')
})

t.test('a session has one sender in this tab, and one that the device does not know has none', async t => {
  const { live, cipherOf, session, openSession } = await start(t)
  t.equal(cipherOf(session).numbers, cipherOf(session).numbers)
  const { session: other } = await openSession()
  await until(home, ({ sessions }) => sessions.has(other.id))
  t.not(cipherOf(other.id).numbers, cipherOf(session).numbers)
  t.equal(live.cipherOf('s9'), undefined)
})

t.test('the files of a session are sealed with its key', async t => {
  const { live, session } = await start(t)
  const ref = await live.files.upload(session, live.files.seal(session, new TextEncoder().encode('pears')))
  t.equal(new TextDecoder().decode(await live.files.download(session, { ref })), 'pears')
  t.throws(() => live.files.seal('s9', new Uint8Array(1)), { message: 'no key' })
})

t.test('a message that the server rejects is set aside, and offered to whoever listens', async t => {
  const { live, say, rest, session } = await start(t)
  const draft = say('Prune the pears')
  await live.outbox.put(say('first'))
  await until(live.unsent, drafts => drafts.length === 0)
  const aside = Promise.withResolvers<[Draft, number]>()
  live.onSetAside((draft, { status }) => aside.resolve([draft, status]))
  const heard: string[] = []
  live.onSetAside(({ localId }) => heard.push(localId))()
  await rest.call('removeSession', { params: { id: session } })
  await live.outbox.put(draft)
  const [{ localId }, status] = await aside.promise
  t.same([localId, status], [draft.localId, 404])
  t.same(heard, [])
})

t.test('a server without space is known until it stores something again', async t => {
  const { live, say } = await start(t)
  const asked = globalThis.fetch
  let isFull = true
  t.intercept(globalThis, 'fetch', {
    value: (url: string, init?: RequestInit) =>
      isFull && init?.method === 'POST' && url.endsWith('/messages')
        ? Promise.resolve(Response.json({ error: 'storage-full' }, { status: 507 }))
        : asked(url, init)
  })
  await live.outbox.put(say('Prune the pears'))
  await until(isServerFull, is => is)
  isFull = false
  device.onLine = true
  window.dispatchEvent(new Event('online'))
  await until(live.unsent, drafts => drafts.length === 0)
  await until(isServerFull, is => !is)
})

t.test('what waits on the device is sent by its link', async t => {
  const { live, session, textOf } = await start(t)
  const stored = Promise.withResolvers<string | undefined>()
  live.onStored(([message]) => stored.resolve(message && textOf(message)))
  await live.queue.put(newContinuation('s9', 0, 'for a session that is not here'))
  await live.queue.put(newContinuation(session, 0, 'Go on'))
  t.equal(await stored.promise, 'Go on')
  await until(live.queue.all, all => all.length === 1)
})

t.test('the server hears whether the app is looked at, and whether it wants text as it is written', async t => {
  await start(t)
  statesSent()
  page.show(false)
  t.match(statesSent(), [{ state: 'background', partials: true }])
  page.show(true)
  t.match(statesSent().at(-1), { state: 'active', partials: true })
  flip('lowData')
  t.match(statesSent(), [{ state: 'active', partials: false }])
  flip('lowData')
  t.match(statesSent(), [{ partials: true }])
})

t.test('a lost network is shown at once, and its return connects again', async t => {
  const { live } = await start(t)
  device.onLine = false
  window.dispatchEvent(new Event('offline'))
  t.equal(connection.value.type, 'offline')
  t.equal(isStale.value, true)
  device.onLine = true
  window.dispatchEvent(new Event('online'))
  await until(connection, ({ type }) => type === 'live')
  t.equal(live.socket.state.type, 'live')
})

t.test('an app that is hidden is as current as what it last heard', async t => {
  const { live } = await start(t)
  updateHome({ type: 'confirmed', at: 5 })
  page.show(false)
  t.equal(home.value.asOf, live.socket.heardAt)
})

t.test('a sign-in that the server ended is reported once', async t => {
  const { live, rest, told, say } = await start(t)
  const draft = say('Prune the pears')
  await rest.call('removeDevice', { params: { id: currentDevice } })
  await until(connection, ({ type }) => type !== 'live')
  await live.outbox.put(draft)
  await new Promise(resolve => live.socket.onState(resolve))
  t.same(told, ['ended'])
})

t.test('a link that was closed reports nothing more', async t => {
  const { live, rest, session, told } = await start(t)
  await live.close()
  t.equal(live.socket.state.type, 'closed')
  statesSent()
  const before = home.value
  await rest.call('removeSession', { params: { id: session } })
  page.show(false)
  page.show(true)
  window.dispatchEvent(new Event('online'))
  t.same([statesSent(), told, live.socket.state.type], [[], [], 'closed'])
  t.equal(home.value, before)
})

t.test('a connection that breaks is shown with the time of the next attempt, and what was heard last', async t => {
  const { line } = await start(t)
  updateHome({ type: 'confirmed', at: 5 })
  await line.closePort()
  line.cut()
  const silent = await until(connection, ({ type }) => type === 'silent')
  t.ok(silent.type === 'silent' && silent.nextTryAt !== undefined && silent.nextTryAt > Date.now() - 1000)
  const { asOf } = home.value
  t.ok(asOf !== undefined && asOf > Date.now() - 60_000, 'the screen is as current as that')
  await line.openPort()
  window.dispatchEvent(new Event('online'))
  await until(connection, ({ type }) => type === 'live')
})

t.test('a session that the server no longer has disappears once all are listed', async t => {
  const { session } = await start(t, { known: ['s1', 's2'] })
  t.same([...home.value.sessions.keys()], [session])
})

t.test('the server hears from the first moment whether the app is looked at', async t => {
  await start(t)
  t.match(
    frames.find(frame => frame.includes('"appState"')),
    '"appState":"active","partials":true,"watchedForMs":'
  )
})

t.test('an app that is hidden while the server accepts its connection says so once it has', async t => {
  const { line } = await start(t)
  t.teardown(() => {
    onFrame = () => {}
  })
  onFrame = frame => {
    if (frame.includes('"appState"')) page.show(false)
  }
  line.cut()
  await until(connection, ({ type }) => type !== 'live')
  statesSent()
  window.dispatchEvent(new Event('online'))
  await until(connection, ({ type }) => type === 'live')
  t.match(statesSent(), [{ state: 'background' }])
})

t.test('a token that is about to expire is renewed, and stored before it is used', async t => {
  const { told, live } = await start(t, { expiresAt: Date.now() })
  t.same(told, ['renewed'])
  t.equal((await live.rest.call('listDevices', {})).devices.filter(({ current }) => current).length, 1)
})

t.test('the next message announces the number of one that the server rejected [W13]', async t => {
  const { live, say, key } = await start(t)
  const asked = globalThis.fetch
  let isTooLarge = true
  t.intercept(globalThis, 'fetch', {
    value: (to: string, init?: RequestInit) =>
      isTooLarge && to.endsWith('/messages') ? Promise.resolve(Response.json({ error: 'too large' }, { status: 413 })) : asked(to, init)
  })
  const isAside = new Promise(resolve => live.onSetAside(resolve))
  await live.outbox.put(say('too large'))
  await isAside
  isTooLarge = false
  const stored = Promise.withResolvers<MessageRecord | undefined>()
  live.onStored(([message]) => stored.resolve(message))
  await live.outbox.put(say('small'))
  const message = await stored.promise
  t.match(message && writerOf(openMessage(key.cipher, message)), { number: 2, gone: [{ number: 1 }] })
})

t.test('a start that waits begins on its machine, and its first message is sent', async t => {
  const { live, vault, rest, session, textOf, client } = await start(t)
  const { cipher, wrapped } = vault.newKey()
  const metadata = { host: 'studio', platform: 'linux', happyCliVersion: '1', homeDir: '/home', happyHomeDir: '/home/.happy' }
  const daemonState = cipher.seal({ status: 'running', startedAt: 1 })
  await rest.call('openMachine', { body: { id: 'm3', metadata: cipher.seal(metadata), daemonState, dataEncryptionKey: wrapped } })
  const { socket } = await client({ as: 'machine', id: 'm3' })
  const begun: unknown[] = []
  serveMachine({
    ...{ socket, cipher, machine: 'm3' },
    handlers: {
      'spawn-happy-session'(params) {
        begun.push(params.directory)
        return { type: 'success', sessionId: session }
      }
    }
  })
  const stored = Promise.withResolvers<string | undefined>()
  live.onStored(([message]) => stored.resolve(message && textOf(message)))
  const asked = { agent: 'claude', folder: '/work/pears', mode: 'default', mayMakeFolder: false }
  await live.queue.put(newStart({ machine: 'm3', agent: 'Claude Code', asked, text: 'Prune the pears' }))
  t.equal(await stored.promise, 'Prune the pears')
  t.same(begun, ['/work/pears'])
})
