import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import {
  cryptoReady,
  engine,
  lockAnswer,
  openLockedAnswer,
  openToken,
  sealAnswerV2,
  signApproval,
  signForServer,
  signingKeypair,
  toBase64
} from '../../../../lib/crypto/index.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { movingTime } from '../../../kit/moving-time.ts'
import { call, type Person, signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

await cryptoReady()

type Server = { url: string }

const notFound = { status: 404, body: { error: 'Request not found' } }
const over = { status: 410, body: { error: 'Request has expired' } }
const answeredBefore = { status: 409, body: { error: 'Request was already answered' } }
const badSignature = { status: 401, body: { error: 'Invalid signature' } }
const success = { status: 200, body: { success: true } }

/** A terminal that shows a link, with everything it keeps to itself. */
async function ask(server: Server, kind: 'terminal' | 'device' = 'terminal') {
  const box = engine.boxKeypair()
  const device = signingKeypair(randomBytes(32))
  const pollSecret = randomBytes(32)
  const keys = { publicKey: toBase64(box.publicKey), deviceKey: toBase64(device.publicKey) }
  const pollHash = createHash('sha256').update(pollSecret).digest('base64')
  const { status, body } = await call(server, 'POST', '/v2/pairings', { body: { kind, ...keys, pollHash, deviceName: 'laptop' } })
  const poll = (secret: Uint8Array = pollSecret) =>
    call(server, 'POST', `/v2/pairings/${body.id}/poll`, { body: { pollSecret: toBase64(secret) } })
  return { status, body, box, device, keys, linkSecret: randomBytes(16), poll, path: `/v2/pairings/${body.id}` }
}
type Asked = Awaited<ReturnType<typeof ask>>

function approvalOf(server: Server, { box, device, body, linkSecret }: Asked, by: Person, changes: Untyped = {}) {
  const answer = lockAnswer(sealAnswerV2(new Uint8Array(32).fill(9), box.publicKey), linkSecret)
  const approval = { id: body.id, asker: { publicKey: box.publicKey, deviceKey: device.publicKey }, response: answer, origin: server.url }
  const signature = signApproval(signingKeypair(by.secret).secretKey, { ...approval, ...changes })
  return { response: toBase64(answer), signature: toBase64(signature), origin: server.url }
}

async function startWorld(t: Test, options = {}) {
  const server = await startServer(t, options)
  return { server, ada: await signUp(t, server) }
}

/** What the apps of a person are alarmed of; resolves when all of it has come. */
async function alarmsOf(person: Person): Promise<() => Promise<string[]>> {
  const app = await person.connect()
  const heard: string[] = []
  app.on('ephemeral', ({ type }) => heard.push(type))
  return async () => {
    await app.emitWithAck('ping', {})
    return heard
  }
}

t.test('a terminal is approved and gets answer and token, encrypted for it alone [A7]', async t => {
  const { server, ada } = await startWorld(t)
  const asked = await ask(server)
  t.same(await asked.poll(), { status: 200, body: { state: 'waiting' } })
  t.match((await ada.call('GET', asked.path)).body, { kind: 'terminal', name: 'laptop', from: '127.0.0', state: 'waiting', ...asked.keys })

  const body = approvalOf(server, asked, ada)
  t.same(await ada.call('POST', `${asked.path}/approval`, { body }), success)
  t.same(await ada.call('POST', `${asked.path}/approval`, { body }), success, 'a repeat after a lost reply')
  const { status, body: got } = await asked.poll()
  t.equal(status, 200)
  t.notMatch(JSON.stringify(got), 'afield1-')
  const token = openToken(Buffer.from(got.sealedToken, 'base64'), asked.box.secretKey) ?? ''
  t.match(token, /^afield1-terminal\./)
  t.equal((await call(server, 'GET', '/v1/sessions', { token })).status, 200)
  t.equal((await call(server, 'GET', '/v1/devices', { token })).status, 403, 'it manages nothing')
  const answer = openLockedAnswer(Buffer.from(got.response, 'base64'), asked.linkSecret, asked.box.secretKey)
  t.same(answer, { version: 2, contentPublicKey: new Uint8Array(32).fill(9) })
  t.equal(openLockedAnswer(Buffer.from(got.response, 'base64'), randomBytes(16), asked.box.secretKey), undefined)

  const { devices } = (await ada.call('GET', '/v1/devices')).body
  t.match(
    devices.find(({ id }: Untyped) => id === got.device),
    { name: 'laptop', kind: 'terminal', renews: true }
  )
})

t.test('an asker that lost the reply gets it again until its request expires, without an alarm [A7]', async t => {
  const time = movingTime()
  const { server, ada } = await startWorld(t, { now: time.now, clock: time.clock })
  const heard = await alarmsOf(ada)
  const asked = await ask(server)
  await ada.call('POST', `${asked.path}/approval`, { body: approvalOf(server, asked, ada) })
  const answers = await Promise.all(Array.from({ length: 10 }, () => asked.poll()))
  for (const answer of answers) t.same(answer, answers[0])
  t.equal(answers[0]?.status, 200)
  time.at += 60_000
  const later = await asked.poll()
  t.same(later.body, { ...answers[0]?.body, expiresInMs: answers[0]?.body.expiresInMs - 60_000 })
  const token = openToken(Buffer.from(later.body.sealedToken, 'base64'), asked.box.secretKey) ?? ''
  t.equal((await call(server, 'GET', '/v1/sessions', { token })).status, 200)
  t.equal((await ada.call('GET', '/v1/devices')).body.devices.length, 2, 'one device was linked')
  t.same(await heard(), ['device-came'])
  time.at += 4 * 60_000
  t.same(await asked.poll(), over)
  t.same(await heard(), ['device-came'])
})

t.test('without its secret a request is not found, and after approval such an attempt alarms its account once [A7]', async t => {
  const { server, ada } = await startWorld(t)
  const heard = await alarmsOf(ada)
  const asked = await ask(server)
  t.same(await asked.poll(randomBytes(32)), notFound)
  t.same(await heard(), [], 'nobody yet whose it is')
  await ada.call('POST', `${asked.path}/approval`, { body: approvalOf(server, asked, ada) })
  for (const secret of [randomBytes(32), new Uint8Array(0), randomBytes(32)]) t.same(await asked.poll(secret), notFound)
  t.same(await heard(), ['pairing-fetched-twice'])
  t.equal((await asked.poll()).status, 200)
})

t.test('the answer of an expired request is wiped automatically [A7] [A6]', async t => {
  const clock = manualClock()
  const { server, ada } = await startWorld(t, { clock, now: () => 1e12 + clock.now() })
  const [fetched, left] = [await ask(server), await ask(server)]
  for (const asked of [fetched, left]) await ada.call('POST', `${asked.path}/approval`, { body: approvalOf(server, asked, ada) })
  t.equal((await fetched.poll()).status, 200)
  const kept = () => {
    const database = new Database(join(server.data, 'afield.db'), { readonly: true })
    const count = database.prepare('SELECT count(response) + count(sealed_token) FROM pairing_request').pluck().get()
    database.close()
    return count
  }
  t.equal(kept(), 3)
  clock.advance(5 * 60_000 + 60_000)
  while (kept() !== 0) await new Promise(setImmediate)
  t.same(await left.poll(), over)
})

t.test('an approval is valid only for this account, asker, answer and server [A7]', async t => {
  const { server, ada } = await startWorld(t)
  const mallory = await signUp(t, server)
  const asked = await ask(server)
  const other = await ask(server)
  const approve = (body: object) => ada.call('POST', `${asked.path}/approval`, { body })
  for (const [name, changes] of Object.entries({
    id: { id: other.body.id },
    asker: { asker: { publicKey: other.box.publicKey, deviceKey: other.device.publicKey } },
    'device key': { asker: { publicKey: asked.box.publicKey, deviceKey: other.device.publicKey } },
    response: { response: randomBytes(40) },
    origin: { origin: 'https://evil.example' }
  }))
    t.same(await approve(approvalOf(server, asked, ada, changes)), badSignature, name)
  t.same(await approve(approvalOf(server, asked, mallory)), badSignature, 'the key of another account')
  const evil = { origin: 'https://evil.example' }
  t.equal((await approve({ ...approvalOf(server, asked, ada, evil), ...evil })).status, 403)
  t.same(await asked.poll(), { status: 200, body: { state: 'waiting' } })
})

t.test('the first approval wins, and a refused request stays refused [A7]', async t => {
  const { server, ada } = await startWorld(t)
  const grace = await signUp(t, server)
  const asked = await ask(server)
  t.same(await ada.call('POST', `${asked.path}/approval`, { body: approvalOf(server, asked, ada) }), success)
  t.same(await ada.call('POST', `${asked.path}/approval`, { body: approvalOf(server, asked, ada) }), answeredBefore, 'other bytes')
  t.same(await grace.call('POST', `${asked.path}/approval`, { body: approvalOf(server, asked, grace) }), answeredBefore)
  t.same(await ada.call('POST', `${asked.path}/rejection`, { body: {} }), answeredBefore)

  const refused = await ask(server)
  t.same(await ada.call('POST', `${refused.path}/rejection`, { body: {} }), success)
  t.same(await refused.poll(), over)
  t.same(await ada.call('POST', `${refused.path}/approval`, { body: approvalOf(server, refused, ada) }), notFound)
})

t.test('a request expires after five minutes, approved or not [A7]', async t => {
  const time = movingTime()
  const { server, ada } = await startWorld(t, { now: time.now, clock: time.clock })
  const [waiting, approved] = [await ask(server), await ask(server)]
  await ada.call('POST', `${approved.path}/approval`, { body: approvalOf(server, approved, ada) })
  time.at += 5 * 60_000 - 1
  t.equal((await waiting.poll()).status, 200)
  time.at += 1
  t.same(await waiting.poll(), over)
  t.same(await approved.poll(), over)
  t.same(await ada.call('POST', `${waiting.path}/approval`, { body: approvalOf(server, waiting, ada) }), notFound)
})

t.test('a terminal’s token approves nothing [A4]', async t => {
  const { server, ada } = await startWorld(t)
  const [first, second] = [await ask(server), await ask(server)]
  await ada.call('POST', `${first.path}/approval`, { body: approvalOf(server, first, ada) })
  const { body } = await first.poll()
  const token = openToken(Buffer.from(body.sealedToken, 'base64'), first.box.secretKey)
  for (const what of ['approval', 'rejection'])
    t.equal((await call(server, 'POST', `${second.path}/${what}`, { token, body: approvalOf(server, second, ada) })).status, 403)
  t.equal((await call(server, 'GET', second.path, { token })).status, 403)
})

t.test('a paired device renews its token with its own key', async t => {
  const clock = manualClock()
  const { server, ada } = await startWorld(t, { clock })
  const asked = await ask(server, 'device')
  await ada.call('POST', `${asked.path}/approval`, { body: approvalOf(server, asked, ada) })
  const { account } = (await asked.poll()).body
  const { nonce, serverKeyId } = (await call(server, 'GET', '/v2/auth/nonce')).body
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
  const said = { serverKeyId: bytes(serverKeyId), origin: server.url, nonce: bytes(nonce), deviceKey: asked.device.publicKey }
  const signature = toBase64(signForServer(asked.device.secretKey, { ...said, purpose: 'renew' }))
  const body = { purpose: 'renew', account, deviceKey: asked.keys.deviceKey, origin: server.url, nonce, signature }
  t.equal((await call(server, 'POST', '/v2/auth', { body })).status, 200)
})

t.test('an account is removed with everything in it by a signature of its key, not by a token [A10] [P4]', async t => {
  const { server, ada } = await startWorld(t)
  await signUp(t, server)
  const grace = await signUp(t, server)
  await grace.openSession()
  await grace.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[grace]' } })
  const socket = await grace.connect()
  const closed = new Promise(resolve => socket.once('disconnect', resolve))
  const remove = async (person: Person, secret: Uint8Array) => {
    const { nonce, serverKeyId } = (await call(server, 'GET', '/v2/auth/nonce')).body
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
    const { publicKey, secretKey } = signingKeypair(secret)
    const said = { serverKeyId: bytes(serverKeyId), origin: server.url, nonce: bytes(nonce), deviceKey: publicKey }
    const signature = toBase64(signForServer(secretKey, { ...said, purpose: 'delete-account' }))
    const key = toBase64(publicKey)
    return person.call('POST', '/v1/account/removal', { body: { publicKey: key, deviceKey: key, origin: server.url, nonce, signature } })
  }
  t.same(await remove(grace, ada.secret), badSignature)
  t.same(await remove(grace, grace.secret), success)
  await closed
  t.equal((await grace.call('GET', '/v1/sessions')).status, 401)
  t.not((await signUp(t, server, grace.secret)).id, grace.id, 'the key begins anew')
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
})
