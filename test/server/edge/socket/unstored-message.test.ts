import t, { type Test } from 'tap'
import { openStore } from '../../../../lib/store/open.ts'
import { OverQuota } from '../../../../lib/store/quotas.ts'
import { StoreBroken, StoreBusy, StoreFull } from '../../../../lib/store/store.ts'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const reasons: Record<string, () => Error> = {
  'a busy database': () => new StoreBusy('The database cannot be reached.'),
  'a full disk': () => new StoreFull('The disk is full.'),
  'a failed disk': () => new StoreBroken('The disk failed.'),
  'an account out of space': () => new OverQuota('bytes'),
  'a fault of the server': () => new TypeError('x is not a function')
}

for (const [reason, error] of Object.entries(reasons))
  t.test(`a ping is not answered after a message that ${reason} kept from being stored: its connection is closed [D1] [M4]`, async t => {
    const { ada, sid, recover, errors } = await failing(t, error)
    await closedUnanswered(t, ada, sid)
    t.equal(errors.length, reason === 'a fault of the server' ? 1 : 0, 'only a fault is reported')

    recover()
    const again = await ada.connect()
    again.emit('message', { sid, message: 'aGk=', localId: 'a' })
    t.same(await again.emitWithAck('ping'), {})
    t.match((await ada.call('GET', `/v3/sessions/${sid}/messages`)).body.messages, [{ seq: 1, localId: 'a' }])
  })

t.test('a message over the quota closes the connection too, until there is room [D1] [Q2]', async t => {
  const server = await startServer(t, { policy: { quotas: () => ({ messages: 1 }) } })
  const ada = await signUp(t, server)
  const [full, sid] = [await ada.openSession(), await ada.openSession()]
  await ada.send(full, { localId: 'only' })
  await closedUnanswered(t, ada, sid)

  await ada.call('DELETE', `/v1/sessions/${full}`)
  const again = await ada.connect()
  again.emit('message', { sid, message: 'aGk=', localId: 'a' })
  t.same(await again.emitWithAck('ping'), {})
  t.match((await ada.call('GET', `/v3/sessions/${sid}/messages`)).body.messages, [{ seq: 1, localId: 'a' }])
})

t.test('a message that is answered, or that can never be stored, closes nothing [D1]', async t => {
  const { ada, sid } = await failing(t, () => new StoreFull('The disk is full.'))
  const socket = await ada.connect()
  const refused = { result: 'error', message: 'The server is out of space', status: 507 }
  t.same(await socket.emitWithAck('message', { sid, message: 'aGk=', localId: 'a' }), refused)
  socket.emit('message', { sid: 'unknown', message: 'aGk=', localId: 'b' })
  socket.emit('message', { sid, message: 7 })
  t.same(await socket.emitWithAck('ping'), {})
})

type Ada = Awaited<ReturnType<typeof signUp>>

async function closedUnanswered(t: Test, ada: Ada, sid: string): Promise<void> {
  const socket = await ada.connect()
  const closed = next(socket, 'disconnect')
  socket.emit('message', { sid, message: 'aGk=', localId: 'a' })
  const answer = socket.emitWithAck('ping').then(
    () => 'answered',
    () => 'not answered'
  )
  t.equal(await Promise.race([answer, closed.then(() => 'closed')]), 'closed')
  t.equal(await answer, 'not answered')
}

/** A server whose store rejects messages with this error until it recovers. A missing session is still missing. */
async function failing(t: Test, error: () => Error) {
  const data = t.testdir()
  const store = await openStore('sqlite:failing.db', { dataDirectory: data, onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  let isFailing = true
  const appendMessages: typeof store.appendMessages = async (account, session, ...rest) => {
    if (isFailing && (session as string) !== 'unknown') throw error()
    return store.appendMessages(account, session, ...rest)
  }
  const errors: unknown[] = []
  const server = await startServer(t, {
    store: { ...store, appendMessages },
    data: t.testdir({ own: {} }),
    onError: error => errors.push(error)
  })
  const ada = await signUp(t, server)
  const recover = () => {
    isFailing = false
  }
  return { ada, sid: await ada.openSession(), errors, recover }
}
