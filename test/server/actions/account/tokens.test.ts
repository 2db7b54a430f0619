import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { signIn } from '../../../../lib/client/index.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const gone = { status: 401, body: { error: 'Invalid token' } }

t.test('the devices of an account are listed with descriptions, without their tokens', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const again = await signUp(t, server, ada.secret)
  await signUp(t, server)
  const { status, body } = await again.call('GET', '/v1/devices')
  t.equal(status, 200)
  t.equal(body.devices.length, 2)
  t.equal(body.devices.filter((row: { current: boolean }) => row.current).length, 1)
  for (const row of body.devices) {
    t.same(Object.keys(row).toSorted(), ['createdAt', 'current', 'id', 'kind', 'lastUsedAt', 'lastUsedFrom', 'name', 'renews'])
    t.equal(row.lastUsedFrom, '127.0.0')
    t.equal(row.kind, 'account')
  }
  t.notMatch(JSON.stringify(body), ada.token.split('.')[2])
})

t.test('a revoked token is unknown at once, and its connections are closed [A4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const lost = await signUp(t, server, ada.secret)
  const socket = await lost.connect()
  const own = await ada.connect()
  const closed = new Promise(resolve => socket.once('disconnect', resolve))

  const id = JSON.parse(atob(lost.token.split('.')[1] ?? '')).tid
  t.same(await ada.call('DELETE', `/v1/tokens/${id}`), { status: 200, body: { success: true } })
  t.same(await lost.call('GET', '/v1/sessions'), gone)
  await closed
  t.ok(own.connected, 'other sign-ins go on')
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
  await t.rejects(lost.connect(), { message: 'Invalid authentication token' })
  t.same(await ada.call('DELETE', `/v1/tokens/${id}`), { status: 404, body: { error: 'Token not found' } })
})

t.test('a sign-in may revoke itself', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  t.same(await ada.call('DELETE', '/v1/tokens/current'), { status: 200, body: { success: true } })
  t.same(await ada.call('GET', '/v1/sessions'), gone)
})

t.test('no one can revoke a sign-in of another account [I1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const mallory = await signUp(t, server)
  const id = JSON.parse(atob(ada.token.split('.')[1] ?? '')).tid
  const foreign = await mallory.call('DELETE', `/v1/tokens/${id}`)
  t.same(foreign, await mallory.call('DELETE', '/v1/tokens/abcdefghijklmnopqrstuvwx'))
  t.same(foreign, { status: 404, body: { error: 'Token not found' } })
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
})

t.test('a token stays valid across restarts, and a revoked one stays revoked', async t => {
  const data = t.testdir()
  const first = await startServer(t, { data })
  const ada = await signUp(t, first)
  const lost = await signUp(t, first, ada.secret)
  await lost.call('DELETE', '/v1/tokens/current')
  await first.close()
  const second = await startServer(t, { data })
  const on = (token: string) => fetch(`${second.url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })
  t.equal((await on(ada.token)).status, 200)
  t.equal((await on(lost.token)).status, 401)
})

t.test('a token with one different character is invalid', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const changed = [...ada.token].map((character, at) => ada.token.slice(0, at) + (character === 'a' ? 'b' : 'a') + ada.token.slice(at + 1))
  for (const token of changed.filter(token => token !== ada.token).slice(-60))
    t.same(await ada.call('GET', '/v1/sessions', { token }), gone)
})

t.test('nothing on disk is a usable token [A6]', async t => {
  const server = await startServer(t)
  const people = [await signUp(t, server), await signUp(t, server)]
  const named = await people[0]?.call('POST', '/v1/tokens', { body: { name: 'ci', scopes: ['read'] } })
  const fresh = await signIn({ server: server.url, secret: people[0]?.secret ?? new Uint8Array(), fetch })
  await server.close()
  const disk = readdirSync(server.data).map(name => readFileSync(join(server.data, name)))
  const keeps = (text: string) => disk.some(file => file.includes(text))
  for (const { token } of [...people, named?.body, fresh]) {
    const secret = token.split('.')[2] ?? ''
    t.notOk(keeps(token))
    t.notOk(keeps(secret.slice(0, 43)))
    t.ok(keeps(createHash('sha256').update(token).digest('base64url')), 'its hash is')
  }
})
