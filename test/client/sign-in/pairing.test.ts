import assert from 'node:assert/strict'
import t, { type Test } from 'tap'
import {
  accountVault,
  answerDeviceLinking,
  answerPairing,
  createRest,
  cryptoReady,
  type Fetch,
  readLink,
  readPairingStatus,
  signIn,
  startDeviceLinking,
  startPairing,
  terminalVault
} from '../../../lib/client/index.ts'
import { engine, openAnswer } from '../../../lib/crypto/index.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { turn } from '../link/fake-link.ts'
import { startWorld, type World } from '../world.ts'

t.before(() => cryptoReady())

/** A fetch that tells when the server has answered. */
function watchedFetch(own: Fetch = fetch) {
  let answered = Promise.withResolvers<void>()
  const watched: Fetch = async (url, init) => {
    try {
      return await own(url, init)
    } finally {
      setImmediate(answered.resolve)
    }
  }
  const next = async () => {
    await answered.promise
    answered = Promise.withResolvers()
    await turn()
  }
  return { watched, next }
}

async function waitForTerminal(t: Test, world: World) {
  const { watched, next } = watchedFetch()
  const clock = manualClock()
  const pairing = startPairing({ server: world.url, fetch: watched, clock, deviceName: 'orchard-mini' })
  const end = pairing.wait()
  await next()
  t.strictSame(await readPairingStatus(world.rest, pairing.publicKey), { status: 'waiting', supportsV2: true })
  return { pairing, end, clock, next }
}

t.test('a paired terminal can write for the account, with a token of its own', async t => {
  const world = await startWorld(t)
  const { pairing, end, clock } = await waitForTerminal(t, world)
  const link = readLink(pairing.link)
  t.match(link, { type: 'terminal', server: world.url })
  await answerPairing({ rest: world.rest, vault: world.vault, publicKey: link?.publicKey ?? new Uint8Array(), supportsV2: true })
  clock.advance(1000)

  const paired = await end
  assert(paired.type === 'paired')
  t.equal(paired.keys.version, 2)
  const terminal = terminalVault(paired.keys)
  t.strictSame(world.vault.openKey(terminal.machine.wrapped)?.open(terminal.machine.cipher.seal('x')), { ok: true, value: 'x' })
  await createRest({ server: world.url, token: paired.token, fetch }).call('listSessions', {})
  t.not(paired.token, world.token)
  const { devices } = await world.rest.call('listDevices', {})
  t.match(
    devices.find(({ kind }) => kind === 'terminal'),
    { name: 'orchard-mini' },
    'the list of sign-ins calls it by its name'
  )
  t.strictSame(await readPairingStatus(world.rest, pairing.publicKey), { status: 'answered' })
})

t.test('a terminal that knows only legacy pairing gets the account secret', async t => {
  const world = await startWorld(t)
  const { pairing, end, clock } = await waitForTerminal(t, world)
  await answerPairing({ rest: world.rest, vault: world.vault, publicKey: pairing.publicKey, supportsV2: false })
  clock.advance(1000)
  t.match(await end, { type: 'paired', keys: { version: 1, secret: world.vault.secret } })
})

t.test('a network lost midway is reported and survived', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const { watched, next } = watchedFetch()
  let isOnline = true
  const patchy: Fetch = (url, init) => watched(isOnline ? url : 'http://127.0.0.1:1/', init)
  const troubles: (string | undefined)[] = []
  const pairing = startPairing({ server: world.url, fetch: patchy, clock, onTrouble: trouble => troubles.push(trouble) })
  const end = pairing.wait()
  await next()
  isOnline = false
  clock.advance(1000)
  await next()
  t.strictSame(troubles, ['The server cannot be reached.'])
  isOnline = true
  await answerPairing({ rest: world.rest, vault: world.vault, publicKey: pairing.publicKey, supportsV2: true })
  clock.advance(1000)
  t.match(await end, { type: 'paired' })
  t.strictSame(troubles, ['The server cannot be reached.', undefined])
})

t.test('a terminal waits as long as the server asks, but at least a second, and ends with a refusal', async t => {
  const clock = manualClock()
  const answers = [
    new Response('{"error":"slow down"}', { status: 429, headers: { 'retry-after': '7' } }),
    new Response('{"error":"slow down"}', { status: 429, headers: { 'retry-after': '0' } }),
    new Response('{"error":"failing"}', { status: 503 }),
    new Response('{"error":"no"}', { status: 403 })
  ]
  const { watched, next } = watchedFetch(async () => answers.shift() ?? Response.error())
  const end = startPairing({ server: 'http://home.example', fetch: watched, clock }).wait()
  await next()
  for (const [nth, waitMs] of [7_000, 1_000, 1_000].entries()) {
    clock.advance(waitMs - 1)
    await turn()
    t.equal(answers.length, 3 - nth, `more than ${waitMs - 1} ms`)
    clock.advance(1)
    if (nth < 2) await next()
  }
  await t.rejects(end, { name: 'Refused', status: 403 })
  t.equal(answers.length, 0)
})

t.test('an answer that was already delivered is not delivered again [A7]', async t => {
  const world = await startWorld(t)
  const { pairing, end, clock } = await waitForTerminal(t, world)
  await answerPairing({ rest: world.rest, vault: world.vault, publicKey: pairing.publicKey, supportsV2: true })
  clock.advance(1000)
  await end
  t.strictSame(await pairing.wait(), { type: 'expired' })
})

t.test("a second account's answer is too late [A7]", async t => {
  const world = await startWorld(t)
  const other = accountVault(engine.randomBytes(32))
  const { token } = await signIn({ server: world.url, secret: other.secret, fetch })
  const rest = createRest({ server: world.url, token, fetch })
  const { pairing } = await waitForTerminal(t, world)
  await answerPairing({ rest: world.rest, vault: world.vault, publicKey: pairing.publicKey, supportsV2: true })
  await t.rejects(answerPairing({ rest, vault: other, publicKey: pairing.publicKey, supportsV2: true }), {
    name: 'Refused',
    status: 409
  })
})

t.test('waiting can be aborted', async t => {
  const world = await startWorld(t)
  const controller = new AbortController()
  const end = startPairing({ server: world.url, fetch }).wait(controller.signal)
  const reason = new Error('Ctrl+C')
  controller.abort(reason)
  await t.rejects(end, reason)
})

t.test('waiting for the next look at the answer can be aborted too', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const { watched, next } = watchedFetch()
  const controller = new AbortController()
  const end = startPairing({ server: world.url, fetch: watched, clock }).wait(controller.signal)
  await next()
  while (clock.pending === 0) await turn()
  controller.abort(new Error('Ctrl+C'))
  await t.rejects(end, { message: 'Ctrl+C' })
})

t.test('a new device gets the whole account', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const { watched, next } = watchedFetch()
  const linking = startDeviceLinking({ server: world.url, fetch: watched, clock })
  const end = linking.wait()
  await next()
  const link = readLink(linking.link)
  t.match(link, { type: 'device', server: undefined })
  await answerDeviceLinking({ rest: world.rest, vault: world.vault, publicKey: link?.publicKey ?? new Uint8Array() })
  clock.advance(1000)
  const paired = await end
  assert(paired.type === 'paired')
  t.same(paired.keys.secret, world.vault.secret)
})

t.test('the answer is encrypted for the terminal alone', async t => {
  const world = await startWorld(t)
  const { pairing } = await waitForTerminal(t, world)
  const bodies: string[] = []
  const watched: Fetch = (url, init) => {
    bodies.push(init.body ?? '')
    return fetch(url, init)
  }
  const rest = createRest({ server: world.url, token: world.token, fetch: watched })
  await answerPairing({ rest, vault: world.vault, publicKey: pairing.publicKey, supportsV2: true })
  const { response } = JSON.parse(bodies[0] ?? '{}')
  t.equal(openAnswer(Buffer.from(response, 'base64'), new Uint8Array(32).fill(1)), undefined)
})

t.test('links of all forms are parsed, and nothing else is', t => {
  const pairing = startPairing({ server: 'https://home.example.org/afield/', fetch })
  t.match(readLink(`  ${pairing.link}\n`), { type: 'terminal', server: 'https://home.example.org/afield', publicKey: pairing.publicKey })
  t.match(readLink(pairing.happyLink), { type: 'terminal', server: undefined, publicKey: pairing.publicKey })
  for (const text of ['', 'https://home.example.org/', 'happy://terminal?short', `${pairing.link}x`]) t.equal(readLink(text), undefined)
  t.end()
})
