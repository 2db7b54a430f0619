import t from 'tap'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'

t.test('the profile has every field that existing apps expect', async t => {
  const madeAt = 1_700_000_000_123
  const server = await startServer(t, { now: () => madeAt })
  const ada = await signUp(t, server)
  const { status, body } = await ada.call('GET', '/v1/account/profile')
  // By the clock of the store, which goes on from what the server was given.
  t.ok(body.timestamp >= madeAt && body.timestamp < madeAt + 3600_000)
  t.same(
    [status, body],
    [
      200,
      {
        id: ada.id,
        timestamp: body.timestamp,
        firstName: null,
        lastName: null,
        username: null,
        avatar: null,
        github: null,
        connectedServices: []
      }
    ]
  )
})

t.test('settings start empty at version 0 and increment by one', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const read = async () => (await ada.call('GET', '/v1/account/settings')).body
  const write = (settings: string | null, expectedVersion: number) =>
    ada.call('POST', '/v1/account/settings', { body: { settings, expectedVersion } })
  t.same(await read(), { settings: null, settingsVersion: 0 })
  t.same(await write('one', 0), { status: 200, body: { success: true, version: 1 } })
  t.same(await read(), { settings: 'one', settingsVersion: 1 })
  t.same(await write(null, 1), { status: 200, body: { success: true, version: 2 } })
  t.same(await read(), { settings: null, settingsVersion: 2 })
})

t.test('settings with a stale version are rejected with the current value, in a 200 [X4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const write = (expectedVersion: number) => ada.call('POST', '/v1/account/settings', { body: { settings: 'mine', expectedVersion } })
  t.same(await write(1), {
    status: 200,
    body: { success: false, error: 'version-mismatch', currentVersion: 0, currentSettings: null }
  })
  await write(0)
  t.same(await write(0), {
    status: 200,
    body: { success: false, error: 'version-mismatch', currentVersion: 1, currentSettings: 'mine' }
  })
})

t.test('of many writers with the same version, one wins [X4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (let version = 0; version < 5; version += 1) {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, writer) =>
        ada.call('POST', '/v1/account/settings', { body: { settings: `${version}.${writer}`, expectedVersion: version } })
      )
    )
    const won = answers.filter(({ body }) => body.success)
    t.equal(won.length, 1)
    for (const { body } of answers) if (!body.success) t.equal(body.currentVersion, version + 1)
  }
})

t.test("changed settings are sent to every app, including the writer's, and to no one else", async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const terminal = listen(await ada.connect({ clientType: 'session-scoped', sessionId: session }))
  const told = next(app, 'update', ({ body }) => body.t === 'update-account')
  await ada.call('POST', '/v1/account/settings', { body: { settings: 'sealed', expectedVersion: 0 } })
  t.same((await told).body, { t: 'update-account', id: ada.id, settings: { value: 'sealed', version: 1 } })
  await terminal.settled()
  t.same(terminal.updates, [])
})

t.test('bad settings are 400', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const body of [
    {},
    { settings: 'x' },
    { settings: 7, expectedVersion: 0 },
    { settings: 'x', expectedVersion: -1 },
    { settings: 'x', expectedVersion: 0.5 }
  ]) {
    t.equal((await ada.call('POST', '/v1/account/settings', { body })).status, 400)
  }
})

t.test('a push token is stored once, listed newest first, and removed on request [A.9]', async t => {
  let now = 1000
  const server = await startServer(t, { now: () => now++ })
  const ada = await signUp(t, server)
  const success = { status: 200, body: { success: true } }
  const token = 'ExponentPushToken[a/b+c=]'
  for (const each of [token, 'second', token]) t.same(await ada.call('POST', '/v1/push-tokens', { body: { token: each } }), success)

  const { body } = await ada.call('GET', '/v1/push-tokens')
  t.same(body.tokens.map((row: { token: string }) => row.token).toSorted(), [token, 'second'].toSorted())
  for (const row of body.tokens) {
    t.same(Object.keys(row).toSorted(), ['createdAt', 'id', 'token', 'updatedAt'])
    t.type(row.id, 'string')
  }
  t.same(await ada.call('DELETE', `/v1/push-tokens/${encodeURIComponent(token)}`), success)
  t.same(await ada.call('DELETE', `/v1/push-tokens/${encodeURIComponent(token)}`), success, 'also when it is not there')
  t.same(
    (await ada.call('GET', '/v1/push-tokens')).body.tokens.map((row: { token: string }) => row.token),
    ['second']
  )
})

t.test('a push token can be on several accounts, and removing it from one keeps the other', async t => {
  const server = await startServer(t)
  const [ada, grace] = [await signUp(t, server), await signUp(t, server)]
  for (const person of [ada, grace]) await person.call('POST', '/v1/push-tokens', { body: { token: 'shared' } })
  await grace.call('DELETE', '/v1/push-tokens/shared')
  t.equal((await ada.call('GET', '/v1/push-tokens')).body.tokens.length, 1)
  t.equal((await grace.call('GET', '/v1/push-tokens')).body.tokens.length, 0)
})

t.test('an account can read its usage, its quotas and the retention [Q2]', async t => {
  const quotas = { sessions: 7, messages: 100, bytes: 1000 }
  const server = await startServer(t, { keepSessionsDays: 30, policy: { quotas: () => quotas } })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.send(session, { localId: 'a', content: 'c2VhbGVk' })
  t.match(await ada.call('GET', '/v1/account/storage'), {
    status: 200,
    body: { sessions: 1, messages: 1, bytes: { messages: 8, attachments: 0, artifacts: 0 }, quotas, keepSessionsDays: 30 }
  })
  t.same((await ada.call('GET', '/v1/account/storage/sessions')).body, { sessions: [{ id: session, bytes: 8 }] })
})

t.test('a missing limit is reported as null', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  t.match((await ada.call('GET', '/v1/account/storage')).body, {
    quotas: { sessions: null, messages: null, bytes: null },
    keepSessionsDays: null
  })
})
