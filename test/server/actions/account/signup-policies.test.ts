import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { cryptoReady, signForServer, signingKeypair, toBase64 } from '../../../../lib/crypto/index.ts'
import type { ServerSetup } from '../../../../lib/index.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { type Answer, call, Person, signInBody } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

await cryptoReady()

type Server = { url: string }
type Extra = { setupCode?: string; invite?: string; deviceName?: string }
type Enter = (server: Server, secret: Uint8Array, extra?: Extra) => Promise<Answer>

const enter: Enter = async (server, secret, extra) =>
  call(server, 'POST', '/v1/auth', { body: { ...(await signInBody(secret)), ...extra } })

const enterFresh: Enter = async (server, secret, extra) => {
  const { nonce, serverKeyId } = (await call(server, 'GET', '/v2/auth/nonce')).body
  const [account, device] = [signingKeypair(secret), signingKeypair(randomBytes(32))]
  const said = { serverKeyId: bytesOf(serverKeyId), origin: server.url, nonce: bytesOf(nonce), deviceKey: device.publicKey }
  const signature = toBase64(signForServer(account.secretKey, { ...said, purpose: 'sign-in' }))
  const keys = { publicKey: toBase64(account.publicKey), deviceKey: toBase64(device.publicKey) }
  return call(server, 'POST', '/v2/auth', { body: { purpose: 'sign-in', ...keys, origin: server.url, nonce, signature, ...extra } })
}

/** Every way to come in with the key of an account. */
const paths: Record<string, Enter> = { 'POST /v1/auth': enter, 'POST /v2/auth': enterFresh }

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
const closed = { status: 403, body: { error: 'This server accepts no new accounts.' } }
const pending = { status: 403, body: { error: 'pending' } }
const inviteRequired = { status: 403, body: { error: 'invite-required' } }
const asksForCode = { status: 403, body: { error: 'setup-code-required' } }

/** A server whose owner has an account already, and time that moves by hand. */
async function startOwned(t: Test, setup: ServerSetup) {
  const clock = manualClock()
  const server = await startServer(t, { trustProxy: 'loopback', ...setup, clock, now: () => 1e12 + clock.now() })
  const secret = randomBytes(32)
  const code = server.setupCode?.code
  const { body } = await enter(server, secret, code === undefined ? {} : { setupCode: code })
  return { server, clock, owner: new Person(t, server, secret, body.token) }
}

const refusals: Record<string, [policy: ServerSetup, refusal: Answer | undefined]> = {
  owner: [{ signup: 'owner' }, closed],
  closed: [{ signup: 'closed' }, closed],
  approve: [{ signup: 'approve' }, pending],
  invite: [{ signup: 'invite' }, inviteRequired],
  open: [{ signup: 'open' }, undefined],
  'a function that refuses': [{ signup: 'open', policy: { signup: () => 'refuse' } }, closed],
  'a function that admits, later': [{ signup: 'closed', policy: { signup: async () => 'admit' as const } }, undefined],
  'a function that asks the owner': [{ signup: 'open', policy: { signup: () => 'ask-owner' } }, pending]
}
for (const [name, [setup, refusal]] of Object.entries(refusals)) {
  for (const [path, enter] of Object.entries(paths)) {
    t.test(`an unknown key × ${name} × ${path}: ${refusal?.body.error ?? 'let in'} [A9]`, async t => {
      const { server } = await startOwned(t, setup)
      const answer = await enter(server, randomBytes(32))
      if (refusal) t.same(answer, refusal)
      else t.equal(answer.status, 200)
    })
  }
}

for (const signup of ['owner', 'approve', 'invite'] as const) {
  for (const [path, enter] of Object.entries(paths)) {
    t.test(`the first account × ${signup} × ${path}: with the setup code alone [A9]`, async t => {
      const server = await startServer(t, { signup })
      t.same(await enter(server, randomBytes(32)), asksForCode)
      t.same(await enter(server, randomBytes(32), { setupCode: 'AAAA-AAAA' }), asksForCode)
      t.equal((await enter(server, randomBytes(32), { setupCode: server.setupCode?.code ?? '' })).status, 200)
    })
  }
}

for (const [path, enter] of Object.entries(paths)) {
  t.test(`${path}: a waiting person is shown to the owner and can sign in once approved [A9]`, async t => {
    const { server, owner } = await startOwned(t, { signup: 'approve' })
    const [ada, eve] = [randomBytes(32), randomBytes(32)]
    t.same(await enter(server, ada), pending)
    t.same(await enter(server, eve), pending)
    const { signups } = (await owner.call('GET', '/v1/signups')).body
    t.match(signups, [
      { fingerprint: /^([a-z]{5}-){3}[a-z]{5}$/, client: /node/, address: '127.0.0.1', askedAt: 1e12, endsAt: 1e12 + 15 * 60_000 },
      { fingerprint: /-/ }
    ])
    t.notMatch(signups[0], { publicKey: /./ })

    const keyOf = await fingerprintOf(ada)
    t.equal((await owner.call('POST', `/v1/signups/${keyOf}/approve`)).status, 200)
    t.same((await enter(server, eve)).status, 403, 'nobody else does')
    const { status, body } = await enter(server, ada)
    t.equal(status, 200)
    t.equal((await enter(server, ada)).status, 200, 'and is a member from then on')
    const member = new Person(t, server, ada, body.token)
    t.match(await member.call('GET', '/v1/signups'), { status: 403 })
  })

  t.test(`${path}: an invitation lets one person in, within its day [A9]`, async t => {
    const { server, clock, owner } = await startOwned(t, { signup: 'invite' })
    const { code } = (await owner.call('POST', '/v1/invites', { body: { label: 'Ada' } })).body
    t.match(code, /^[\w-]{22}$/)
    t.same(await enter(server, randomBytes(32), { invite: `${code.slice(1)}A` }), inviteRequired)
    t.equal((await enter(server, randomBytes(32), { invite: code })).status, 200)
    t.same(await enter(server, randomBytes(32), { invite: code }), inviteRequired, 'once')

    clock.advance(1)
    const second = (await owner.call('POST', '/v1/invites')).body
    clock.advance(24 * 60 * 60_000)
    t.same(await enter(server, randomBytes(32), { invite: second.code }), inviteRequired, 'too late')
    t.match((await owner.call('GET', '/v1/invites')).body.invites, [{ state: 'over' }, { state: 'used', label: 'Ada' }])
  })

  t.test(`${path}: an opened invitation lets one key in without the code, from the network that opened it [A9]`, async t => {
    const { server, clock, owner } = await startOwned(t, { signup: 'invite' })
    const { code, invite } = (await owner.call('POST', '/v1/invites', { body: { label: 'Ada' } })).body
    t.equal((await call(server, 'POST', '/v1/invites/open', { body: { code: 'no such' } })).status, 404)
    const elsewhere = { 'x-forwarded-for': '192.0.2.1' }
    t.equal((await call(server, 'POST', '/v1/invites/open', { body: { code }, headers: elsewhere })).status, 200)
    t.same(await enter(server, randomBytes(32)), inviteRequired, 'another network')

    t.equal((await call(server, 'POST', '/v1/invites/open', { body: { code } })).status, 200)
    t.match((await owner.call('GET', '/v1/invites')).body.invites, [{ id: invite.id, state: 'open' }])
    clock.advance(5 * 60_000)
    t.same(await enter(server, randomBytes(32)), inviteRequired, 'after five minutes')
    t.equal((await call(server, 'POST', '/v1/invites/open', { body: { code } })).status, 200)
    const both = await Promise.all([enter(server, randomBytes(32)), enter(server, randomBytes(32))])
    t.same(both.map(({ status }) => status).toSorted(), [200, 403])
    t.equal((await call(server, 'POST', '/v1/invites/open', { body: { code } })).status, 404)
  })
}

t.test('an approval and a wait expire after 15 minutes [A9, C1]', async t => {
  const { server, clock, owner } = await startOwned(t, { signup: 'approve' })
  const ada = randomBytes(32)
  t.same(await enter(server, ada), pending)
  clock.advance(15 * 60_000)
  t.same((await owner.call('GET', '/v1/signups')).body, { signups: [] })
  t.equal((await owner.call('POST', `/v1/signups/${await fingerprintOf(ada)}/approve`)).status, 404)
  t.same(await enter(server, ada), pending)
  t.equal((await owner.call('POST', `/v1/signups/${await fingerprintOf(ada)}/approve`)).status, 200)
  clock.advance(15 * 60_000)
  t.same(await enter(server, ada), pending)
})

t.test('a rejected person is refused for 15 minutes without asking the owner again', async t => {
  const { server, clock, owner } = await startOwned(t, { signup: 'approve' })
  const eve = randomBytes(32)
  t.same(await enter(server, eve), pending)
  t.equal((await owner.call('POST', `/v1/signups/${await fingerprintOf(eve)}/reject`)).status, 200)
  t.same(await enter(server, eve), closed)
  t.same((await owner.call('GET', '/v1/signups')).body, { signups: [] })
  clock.advance(15 * 60_000)
  t.same(await enter(server, eve), pending)
})

t.test('at most twenty people wait, and others have to retry later', async t => {
  const { server, owner } = await startOwned(t, { signup: 'approve' })
  const first = randomBytes(32)
  t.same(await enter(server, first), pending)
  for (let number = 1; number < 20; number += 1) t.same(await enter(server, randomBytes(32)), pending)
  t.equal((await enter(server, randomBytes(32))).status, 429)
  t.same(await enter(server, first), pending, 'who waits keeps the place')
  t.equal((await owner.call('GET', '/v1/signups')).body.signups.length, 20)
})

t.test('only the owner sees who waits and creates invitations', async t => {
  const { server } = await startOwned(t, { signup: 'open' })
  const { body } = await enter(server, randomBytes(32))
  const member = new Person(t, server, randomBytes(32), body.token)
  const asks: [method: string, path: string][] = [
    ['GET', '/v1/signups'],
    ['POST', '/v1/signups/lusab-babad-gutuk-mosij/approve'],
    ['POST', '/v1/signups/lusab-babad-gutuk-mosij/reject'],
    ['GET', '/v1/invites'],
    ['POST', '/v1/invites'],
    ['DELETE', '/v1/invites/abcdefghijklmnopqrstuvwx']
  ]
  const ownerOnly = { status: 403, body: { error: 'Only the owner of this server can do this' } }
  for (const [method, path] of asks) t.same(await member.call(method, path), ownerOnly, `${method} ${path}`)
})

t.test('a custom policy is called for new keys, never for existing accounts', async t => {
  const asked: unknown[] = []
  const decide = (applicant: object) => {
    asked.push(applicant)
    return 'admit' as const
  }
  const server = await startServer(t, { policy: { signup: decide } })
  const ada = randomBytes(32)
  await enter(server, ada, { invite: 'from Bob', deviceName: 'a phone' })
  await enter(server, ada)
  const publicKey = Buffer.from(signingKeypair(ada).publicKey).toString('hex').toUpperCase()
  t.match(asked, [{ publicKey, fingerprint: await fingerprintOf(ada), invite: 'from Bob', address: '127.0.0.1' }])
  t.equal(asked.length, 1)
})

/** As an app works out what its person reads to the owner. */
async function fingerprintOf(secret: Uint8Array): Promise<string> {
  const { fingerprintOf: wordsOf } = await import('../../../../lib/protocol/wire/fingerprint.ts')
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(signingKeypair(secret).publicKey))
  return wordsOf(new Uint8Array(digest))
}
