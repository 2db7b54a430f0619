import { join } from 'node:path'
import t, { type Test } from 'tap'
import { askServer } from '../../lib/server/control/ask.ts'
import { openStore } from '../../lib/store/open.ts'
import { OverQuota } from '../../lib/store/quotas.ts'
import { RowDamaged, type Store, StoreBroken, StoreBusy, StoreFull } from '../../lib/store/store.ts'
import { signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { openWebSocket } from './raw-websocket.ts'

/** A server whose store says no to everything from the moment that `trouble.is` is set. */
async function startInTrouble(t: Test) {
  const data = t.testdir()
  const trouble: { is: Error | undefined } = { is: undefined }
  const errors: unknown[] = []
  const whole = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken() {} })
  t.teardown(() => whole.close())
  const failing: Store = { ...whole }
  for (const name of Object.keys(whole) as (keyof Store)[]) {
    if (name === 'close' || name === 'safekeeping') continue
    const method = whole[name] as (...args: unknown[]) => unknown
    Object.assign(failing, { [name]: async (...args: unknown[]) => (trouble.is ? Promise.reject(trouble.is) : method(...args)) })
  }
  const server = await startServer(t, { data, store: failing, onError: error => void errors.push(error) })
  return { ...server, trouble, errors }
}

const refusals: [error: Error, status: number, says: string, exitCode: number, isNews: boolean][] = [
  [new StoreFull('SQLITE_FULL'), 507, 'The server is out of space', 75, false],
  [new StoreBusy('SQLITE_BUSY'), 503, "The server's storage is busy, or cannot be reached", 75, false],
  [new StoreBroken('SQLITE_IOERR'), 503, 'The server cannot store anything now', 75, false],
  [new OverQuota('bytes'), 507, 'This account is out of space', 1, false],
  [new OverQuota('kvValueBytes'), 413, 'Payload Too Large', 1, false],
  [new RowDamaged('message 7'), 500, 'The stored data is damaged', 75, true]
]

for (const [error, status, says, exitCode, isNews] of refusals) {
  t.test(`${error.message} is the same error over HTTP, a socket and the control socket [F1, F5, Q2]`, async t => {
    const server = await startInTrouble(t)
    const ada = await signUp(t, server)
    const session = await ada.openSession()
    const socket = await ada.connect()
    server.trouble.is = error

    const answer = await ada.call('POST', '/v1/sessions', { body: { tag: 'x', metadata: 'bQ==' } })
    t.equal(answer.status, status)
    const events: [name: string, payload: object, ack: object][] = [
      ['update-metadata', { sid: session, metadata: 'bQ==', expectedVersion: 0 }, { result: 'error', message: says, status }],
      ['machine-update-state', { machineId: 'm', daemonState: 'bQ==', expectedVersion: 0 }, { result: 'error', message: says, status }],
      ['artifact-delete', { artifactId: crypto.randomUUID() }, { result: 'error', message: says, status }],
      ['usage-report', { key: 'k', tokens: { total: 1 }, cost: { total: 1 } }, { success: false, error: says }],
      ['access-key-get', { sessionId: session, machineId: 'm' }, { ok: false, error: says }]
    ]
    for (const [name, payload, ack] of events) t.same(await socket.emitWithAck(name, payload), ack, name)
    if (process.platform !== 'win32') {
      const asked = askServer({ data: server.data, store: `sqlite:${join(server.data, 'afield.db')}` }, 'listUsers', {})
      await t.rejects(asked, { message: says, exitCode })
    }
    server.trouble.is = undefined
    t.same(
      server.errors.filter(told => told === error).length > 0,
      isNews,
      isNews ? 'damage is news to the operator' : 'a refusal is no error of the server'
    )
  })
}

t.test('clients that connect while the store rejects are told to reconnect, which is not a server error', async t => {
  const server = await startInTrouble(t)
  const ada = await signUp(t, server)
  server.trouble.is = new StoreBusy('SQLITE_BUSY')
  const web = await openWebSocket(t, server)
  await web.next()
  web.send(`40${JSON.stringify({ token: ada.token })}`)
  t.equal(await web.ended(), 1013)
  server.trouble.is = undefined
  t.same(server.errors, [])
})

t.test('a token without the call scope is told so', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const { body } = await ada.call('POST', '/v1/tokens', { body: { name: 'reader', scopes: ['read'] } })
  const reader = await ada.connect({ token: body.token })
  const answer = await reader.emitWithAck('rpc-call', { method: 'm:run', params: 'x' })
  t.same(answer, { ok: false, error: 'This token is not allowed to do this' })
})
