import t from 'tap'
import { cryptoReady, engine, signChallenge, toBase64 } from '../../../../lib/crypto/index.ts'
import { call, signInBody, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const invalidSignature = { status: 401, body: { error: 'Invalid signature' } }

t.test('a signature over a fresh challenge signs in, and the same key finds the same account', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const again = await signUp(t, server, ada.secret)
  t.equal(again.id, ada.id)
  t.not(again.token, ada.token)
  const grace = await signUp(t, server)
  t.not(grace.id, ada.id)
})

t.test('the answer has exactly the shape clients know', async t => {
  const server = await startServer(t)
  await cryptoReady()
  const { status, body } = await call(server, 'POST', '/v1/auth', { body: await signInBody(engine.randomBytes(32)) })
  t.equal(status, 200)
  t.same(Object.keys(body), ['success', 'token'])
  t.equal(body.success, true)
})

t.test('a token has three parts, and its middle is standard base64 of an object with `sub`', async t => {
  const server = await startServer(t)
  for (let time = 0; time < 20; time += 1) {
    const { token } = await signUp(t, server)
    const parts = token.split('.')
    t.equal(parts.length, 3)
    const [kind = '', payload = '', secret = ''] = parts
    t.equal(kind, 'afield1-account')
    // What `atob` of a browser takes: the web app decodes with it.
    t.match(payload, /^[A-Za-z0-9+/]+={0,2}$/)
    t.match(JSON.parse(atob(payload)), { sub: /^[a-z2-7]{24}$/, tid: /^[a-z2-7]{24}$/ })
    t.match(secret, /^[\w-]{43}[0-9a-z]{6}$/)
    t.match(token, /^[\x21-\x7e]+$/)
  }
})

t.test('a challenge is valid once, in every encoding of the same bytes, and after a restart [A1]', async t => {
  const data = t.testdir()
  const first = await startServer(t, { data })
  await cryptoReady()
  const body = await signInBody(engine.randomBytes(32))
  t.equal((await call(first, 'POST', '/v1/auth', { body })).status, 200)

  const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  const spellings = [
    body,
    { ...body, challenge: urlSafe(body.challenge) },
    { publicKey: urlSafe(body.publicKey), challenge: urlSafe(body.challenge), signature: urlSafe(body.signature) },
    { ...body, signature: body.signature.replaceAll('=', '') },
    { ...body, signature: malleated(body.signature) }
  ]
  for (const spelling of spellings) t.same(await call(first, 'POST', '/v1/auth', { body: spelling }), invalidSignature)
  await first.close()

  const second = await startServer(t, { data })
  for (const spelling of spellings) t.same(await call(second, 'POST', '/v1/auth', { body: spelling }), invalidSignature)
})

t.test('of many who present a challenge at once, one gets in [A1]', async t => {
  const server = await startServer(t)
  await cryptoReady()
  const body = await signInBody(engine.randomBytes(32))
  const answers = await Promise.all(Array.from({ length: 20 }, () => call(server, 'POST', '/v1/auth', { body })))
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  t.equal(answers.filter(({ status }) => status === 401).length, 19)
})

t.test('two simultaneous first sign-ins with a key create one account', async t => {
  const server = await startServer(t)
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const people = await Promise.all(Array.from({ length: 10 }, () => signUp(t, server, secret)))
  t.equal(new Set(people.map(({ id }) => id)).size, 1)
})

t.test('a challenge is bound to its key', async t => {
  const server = await startServer(t)
  await cryptoReady()
  const challenge = engine.randomBytes(32)
  for (const secret of [engine.randomBytes(32), engine.randomBytes(32)]) {
    const { publicKey, signature } = signChallenge(secret, challenge)
    const body = { publicKey: toBase64(publicKey), challenge: toBase64(challenge), signature: toBase64(signature) }
    t.equal((await call(server, 'POST', '/v1/auth', { body })).status, 200)
  }
})

t.test('a signature that does not verify is rejected, and its challenge stays valid', async t => {
  const server = await startServer(t)
  await cryptoReady()
  const body = await signInBody(engine.randomBytes(32))
  const other = await signInBody(engine.randomBytes(32))
  t.same(await call(server, 'POST', '/v1/auth', { body: { ...body, signature: other.signature } }), invalidSignature)
  t.same(await call(server, 'POST', '/v1/auth', { body: { ...body, publicKey: other.publicKey } }), invalidSignature)
  t.same(await call(server, 'POST', '/v1/auth', { body: { ...body, challenge: other.challenge } }), invalidSignature)
  t.equal((await call(server, 'POST', '/v1/auth', { body })).status, 200)
})

t.test('keys, challenges and signatures of the wrong length are rejected like a bad signature', async t => {
  const server = await startServer(t)
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const good = await signInBody(secret)
  const signed = (length: number) => {
    const challenge = engine.randomBytes(length)
    const { publicKey, signature } = signChallenge(secret, challenge)
    return { publicKey: toBase64(publicKey), challenge: toBase64(challenge), signature: toBase64(signature) }
  }
  const bytes = (length: number) => toBase64(engine.randomBytes(length))
  const refused = [
    { ...good, publicKey: bytes(31) },
    { ...good, publicKey: bytes(33) },
    { ...good, publicKey: '' },
    { ...good, signature: bytes(63) },
    { ...good, signature: bytes(65) },
    { ...good, signature: '' },
    { ...good, challenge: '' },
    { ...good, publicKey: 'not base64!' },
    signed(15),
    signed(65)
  ]
  for (const body of refused) t.same(await call(server, 'POST', '/v1/auth', { body }), invalidSignature, JSON.stringify(body))
  for (const length of [16, 32, 64]) t.equal((await call(server, 'POST', '/v1/auth', { body: signed(length) })).status, 200)
})

t.test('a key of small order cannot sign in [A2]', async t => {
  const server = await startServer(t)
  const identity = Buffer.alloc(32)
  identity[0] = 1
  const body = { publicKey: identity.toString('base64'), challenge: Buffer.alloc(32, 7).toString('base64') }
  const signature = Buffer.concat([identity, Buffer.alloc(32)]).toString('base64')
  t.same(await call(server, 'POST', '/v1/auth', { body: { ...body, signature } }), invalidSignature)
})

t.test('a missing or non-text field is 400', async t => {
  const server = await startServer(t)
  await cryptoReady()
  const good = await signInBody(engine.randomBytes(32))
  for (const field of Object.keys(good)) {
    for (const wrong of [undefined, 7, null, [], {}]) {
      const answer = await call(server, 'POST', '/v1/auth', { body: { ...good, [field]: wrong } })
      t.match(answer, { status: 400, body: { error: 'Error', message: new RegExp(`^body/${field} `), statusCode: 400 } })
    }
  }
})

t.test('a closed server accepts existing accounts and no new ones [A9]', async t => {
  const data = t.testdir()
  const open = await startServer(t, { data })
  const ada = await signUp(t, open)
  await open.close()

  const closed = await startServer(t, { data, signup: 'closed' })
  t.equal((await signUp(t, closed, ada.secret)).id, ada.id)
  const stranger = await signInBody(engine.randomBytes(32))
  t.same(await call(closed, 'POST', '/v1/auth', { body: stranger }), {
    status: 403,
    body: { error: 'This server accepts no new accounts.' }
  })
})

/** The same signature with the group order added to its second half: other bytes, and valid to a careless verifier. */
function malleated(signature: string): string {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const bytes = Buffer.from(signature, 'base64')
  let number = order
  for (let index = 0; index < 32; index += 1) number += BigInt(bytes[32 + index] ?? 0) << BigInt(8 * index)
  for (let index = 0; index < 32; index += 1) bytes[32 + index] = Number((number >> BigInt(8 * index)) & 0xffn)
  return toBase64(bytes)
}
