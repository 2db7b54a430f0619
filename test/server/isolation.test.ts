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
  pushToken: string
}

type Kind = keyof Belongings

/** An id of each kind that nobody has, as long as the one it stands beside. */
const missing: Belongings = {
  session: 'abcdefghijklmnopqrstuvwx',
  machine: 'no-such-machine',
  token: 'abcdefghijklmnopqrstuvwx',
  pushToken: 'ExponentPushToken[none]'
}

/** Every route that takes an id of a row, the kind of it, and a body that fits. A route with parameters that is not here fails the build. */
const idRoutes: Partial<Record<keyof typeof routes, { kind: Kind; body?: object }>> = {
  revokeToken: { kind: 'token' },
  archiveSession: { kind: 'session' },
  removeSession: { kind: 'session' },
  readLatestMessages: { kind: 'session' },
  readMessages: { kind: 'session' },
  appendMessages: { kind: 'session', body: { messages: [{ localId: 'evil', content: 'evil' }] } },
  notify: { kind: 'session', body: { kind: 'done', title: 'evil', body: 'evil' } },
  readMachine: { kind: 'machine' },
  removeMachine: { kind: 'machine' },
  removePushToken: { kind: 'pushToken' }
}

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
  partial: { kind: 'session', payload: sid => ({ sid, partial: 'evil' }) }
}
const eventsWithoutIds = ['ping', 'app-state']
// A call names a method and no row; test/server/actions/calls.test.ts has it.
const provedElsewhere = ['rpc-call']

async function startWorld(t: Test) {
  const server = await startServer(t)
  const [victim, mallory] = [await signUp(t, server), await signUp(t, server)]
  const session = await victim.openSession()
  await victim.send(session, { localId: 'first' })
  await victim.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  await victim.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[mine]' } })
  const own = await signUp(t, server, victim.secret)
  const { tid } = JSON.parse(atob(own.token.split('.')[1] ?? ''))
  const owned: Belongings = { session, machine: 'laptop', token: tid, pushToken: 'ExponentPushToken[mine]' }
  return { server, victim, mallory, owned }
}

/** Everything an account can read of itself that a stranger might change. */
async function everythingOf(person: Person, { session }: Belongings): Promise<unknown> {
  const paths = ['/v1/sessions', `/v3/sessions/${session}/messages`, '/v1/machines', '/v1/push-tokens', '/v1/account/settings']
  const all: unknown[] = []
  for (const path of paths) all.push((await person.call('GET', path)).body)
  const { body } = await person.call('GET', '/v1/tokens')
  all.push(body.tokens.map((row: { id: string }) => row.id).toSorted())
  return all
}

/** Status, headers and body, without what tells only when. */
async function answerTo(server: { url: string }, { token }: Person, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) })
  })
  const headers = [...response.headers].filter(([name]) => name !== 'date')
  return { status: response.status, headers, body: await response.text() }
}

t.test('every route with an id has its row here [I1]', async t => {
  const withParams = Object.entries(routes).filter(([, { path }]) => path.includes(':'))
  t.same(Object.keys(idRoutes).toSorted(), withParams.map(([name]) => name).toSorted())
})

t.test('every event with an id has its row here [I1]', async t => {
  const listed = [...Object.keys(idEvents), ...eventsWithoutIds, ...provedElsewhere]
  t.same(listed.toSorted(), Object.keys(events).toSorted())
})

t.test('on every route a foreign id is answered like one that nobody has, and changes nothing [I1, I4]', async t => {
  const { server, victim, mallory, owned } = await startWorld(t)
  const heard = listen(await victim.connect())
  await heard.settled()
  const before = await everythingOf(victim, owned)
  for (const [name, { kind, body }] of Object.entries(idRoutes)) {
    const { method, path } = routes[name as keyof typeof routes]
    const at = (id: string) => path.replace(/:\w+/, encodeURIComponent(id))
    const foreign = await answerTo(server, mallory, method, at(owned[kind]), body)
    t.same(foreign, await answerTo(server, mallory, method, at(missing[kind]), body), `${method} ${path}`)
  }
  t.same(await everythingOf(victim, owned), before)
  await heard.settled()
  t.same([heard.updates, heard.ephemerals], [[], []])
})

t.test('on every event a foreign id is answered like one that nobody has, and changes nothing [I1, I2, I4]', async t => {
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
        return JSON.stringify({ acknowledged, said }).replaceAll(id, '<id>')
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
