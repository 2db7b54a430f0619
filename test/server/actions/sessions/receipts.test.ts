import t, { type Test } from 'tap'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'

async function startWorld(t: Test) {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.send(session, { localId: 'a' }, { localId: 'b' }, { localId: 'c' })
  const mark = (body: object, headers = {}) => ada.call('POST', `/v1/sessions/${session}/receipts`, { body, headers })
  return { server, ada, session, mark }
}

t.test('receipts are stored, sent to the apps and the session, and shown with it', async t => {
  const { ada, session, mark } = await startWorld(t)
  const [app, own] = [await ada.connect(), await ada.connect({ clientType: 'session-scoped', sessionId: session })]
  const told = [next(app, 'update'), next(own, 'update')]
  t.same(await mark({ deliveredSeq: 2 }), { status: 200, body: { deliveredSeq: 2, readSeq: 0 } })
  for (const update of told) {
    t.match(await update, { seq: 5, body: { t: 'session-receipts', sid: session, deliveredSeq: 2, readSeq: 0 } })
  }
  t.same((await mark({ readSeq: 3 })).body, { deliveredSeq: 3, readSeq: 3 })
  t.match((await ada.call('GET', '/v1/sessions')).body.sessions, [{ id: session, seq: 3, deliveredSeq: 3, readSeq: 3 }])
})

t.test('receipts never go back nor beyond the messages, and unchanged ones are not announced', async t => {
  const { ada, session, mark } = await startWorld(t)
  await mark({ deliveredSeq: 2 })
  const heard = listen(await ada.connect())
  t.same((await mark({ deliveredSeq: 1 })).body, { deliveredSeq: 2, readSeq: 0 })
  t.same((await mark({})).body, { deliveredSeq: 2, readSeq: 0 })
  await heard.settled()
  t.same(heard.updates, [])
  t.same((await mark({ deliveredSeq: 2_000_000_000 })).body, { deliveredSeq: 3, readSeq: 0 })
  await heard.settled()
  t.match(heard.bodies('session-receipts'), [{ sid: session, deliveredSeq: 3 }])
})

t.test('the connection that reports a receipt does not get it back', async t => {
  const { ada, mark } = await startWorld(t)
  const [own, other] = [await ada.connect(), await ada.connect()]
  const [heard, others] = [listen(own), listen(other)]
  await mark({ deliveredSeq: 1 }, { 'x-connection-id': own.id })
  await Promise.all([heard.settled(), others.settled()])
  t.same([heard.updates.length, others.updates.length], [0, 1])
})

t.test('an invalid message number is rejected, and a missing session is not found', async t => {
  const { ada, mark } = await startWorld(t)
  for (const body of [{ deliveredSeq: -1 }, { readSeq: 1.5 }, { readSeq: '1' }, { deliveredSeq: 2 ** 31 }]) {
    t.equal((await mark(body)).status, 400, JSON.stringify(body))
  }
  const missing = await ada.call('POST', '/v1/sessions/nowhere/receipts', { body: { readSeq: 1 } })
  t.same(missing, { status: 404, body: { error: 'Session not found' } })
})
