import t from 'tap'
import { next, signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

t.test('a read-only connection does not count as a machine, a session or an app in use', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const reader = (await ada.call('POST', '/v1/tokens', { body: { name: 'monitor', scopes: ['read'] } })).body.token
  const app = await ada.connect()
  const told: Untyped[] = []
  app.on('ephemeral', frame => told.push(frame))
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'x' } })
  const scope = { clientType: 'machine-scoped', machineId: 'laptop' }
  const isActive = async () => (await ada.call('GET', '/v1/machines/laptop')).body.machine.active

  const watching = await ada.connect({ ...scope, token: reader })
  await watching.emitWithAck('ping')
  await app.emitWithAck('ping')
  t.same([told, await isActive()], [[], false], 'its coming shows nothing')

  const own = await ada.connect(scope)
  await own.emitWithAck('ping')
  t.equal(await isActive(), true)
  own.disconnect()
  await next(app, 'ephemeral', ({ active }) => active === false)
  t.equal(await isActive(), false, 'its being there does not stand in for the machine')
  told.length = 0
  watching.disconnect()
  // The same way, later: what its going would show has been shown.
  const last = await ada.connect(scope)
  last.disconnect()
  await next(app, 'ephemeral', ({ active }) => active === false)
  t.same(
    told.map(({ active }) => active),
    [true, false],
    'its going shows nothing'
  )

  const session = await ada.openSession()
  await ada.connect({ token: reader, appState: 'active' })
  const event = { kind: 'done', title: 'x', body: 'x' }
  t.equal((await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: event })).body.result, 'no_tokens')
})
