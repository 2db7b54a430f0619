import assert from 'node:assert'
import t, { type Test } from 'tap'
import { createRest, type Fetch, keepToken, lookAtRequest, Refused, readRequestLink, startLinking } from '../../../lib/client/index.ts'
import { engine, readPairingLink } from '../../../lib/crypto/index.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { startWorld } from '../world.ts'

async function startLink(t: Test, kind: 'terminal' | 'device' = 'terminal') {
  const world = await startWorld(t)
  const linking = await startLinking(kind, { server: world.url, fetch, deviceName: 'orchard-mini' })
  assert(linking !== 'unsupported')
  const link = readRequestLink(linking.link)
  assert(link)
  return { world, linking, link, look: () => lookAtRequest({ rest: world.rest, vault: world.vault, link }) }
}

/** Four digits that are not these. */
const otherThan = (code: string) => String((Number(code) + 1) % 10_000).padStart(4, '0')

t.test('a terminal shows a link and four digits, and gets a write key and a renewable token', async t => {
  const { world, linking, look } = await startLink(t)
  t.match(linking.checkCode, /^\d{4}$/)
  t.equal(readPairingLink(linking.link), undefined, 'it is not taken for a link of the first kind')
  const view = await look()
  assert(view.type === 'waiting')
  t.match(view, { name: 'orchard-mini', from: '127.0.0' })
  t.ok(view.endsInMs && view.endsInMs > 290_000 && view.endsInMs <= 300_000, 'and how long it waits still')
  const spaced = `${linking.checkCode.slice(0, 2)} ${linking.checkCode.slice(2)}`
  t.equal(await view.approval.approve(spaced), 'approved')
  t.equal(await view.approval.approve(linking.checkCode), 'approved', 'a repeat after a lost reply')
  t.same(await look(), { type: 'answered', name: 'orchard-mini', isYours: true }, 'also before it has heard of it')

  const end = await linking.wait()
  assert(end.type === 'paired')
  t.same(end.answer, { version: 2, contentPublicKey: world.vault.contentPublicKey })
  const source = keepToken({ server: world.url, fetch, kept: end.signedIn, onRenewed() {}, now: () => Date.now() + 25 * 3600_000 })
  const renewed = await source.token()
  t.not(renewed, end.signedIn.token)
  await createRest({ server: world.url, token: renewed, fetch }).call('listSessions', {})
  t.match(await linking.wait(), { type: 'paired', signedIn: { token: end.signedIn.token } }, 'the same again: its reply may be lost')
  t.same(await look(), { type: 'answered', name: 'orchard-mini', isYours: true })
})

t.test("a computer's description reaches the holder of its link, and the server can neither read nor change it", async t => {
  const world = await startWorld(t)
  const about = { os: 'Debian GNU/Linux 12', user: 'mira', isRoot: true }
  const bodies: string[] = []
  const heard: Fetch = (to, init) => {
    bodies.push(String(init?.body))
    return fetch(to, init)
  }
  const linking = await startLinking('terminal', { server: world.url, fetch: heard, about })
  assert(linking !== 'unsupported')
  const link = readRequestLink(linking.link)
  assert(link)
  t.match(bodies[0], '"about":')
  t.notMatch(bodies[0], /Debian|mira/)
  t.match(await lookAtRequest({ rest: world.rest, vault: world.vault, link }), { type: 'waiting', about })
  const told = async (others: string | undefined) => {
    const lying: Fetch = async (to, init) =>
      new Response(JSON.stringify({ ...((await (await fetch(to, init)).json()) as object), about: others }))
    const view = await lookAtRequest({
      rest: createRest({ server: world.url, token: world.token, fetch: lying }),
      vault: world.vault,
      link
    })
    return view.type === 'waiting' ? view.about : view.type
  }
  for (const others of [undefined, '', 'AAAA', Buffer.alloc(80, 1).toString('base64'), '!'])
    t.equal(await told(others), undefined, others ?? 'nothing')
  const silent = await startLink(t)
  t.match(await silent.look(), { type: 'waiting', about: undefined }, 'one that says nothing')
})

t.test('a new device gets the whole account', async t => {
  const { world, linking, look } = await startLink(t, 'device')
  const view = await look()
  assert(view.type === 'waiting')
  await view.approval.approve(linking.checkCode)
  t.match(await linking.wait(), { type: 'paired', answer: { version: 1, accountSecret: world.vault.secret } })
})

t.test('three wrong codes reject a request permanently [A8]', async t => {
  const { linking, look } = await startLink(t)
  const view = await look()
  assert(view.type === 'waiting')
  const wrong = otherThan(linking.checkCode)
  t.same(
    [await view.approval.approve(wrong), await view.approval.approve(wrong), await view.approval.approve(wrong)],
    ['wrong-code', 'wrong-code', 'refused']
  )
  t.equal(await view.approval.approve(linking.checkCode), 'refused', 'the right one comes too late')
  t.same(await linking.wait(), { type: 'expired' })
  t.same(await look(), { type: 'gone' })
})

t.test('a server that swaps a key is detected: by the link, or by different digits', async t => {
  const { world, linking, link } = await startLink(t)
  const swapped = (fields: () => object) => {
    const lying: Fetch = async (to, init) => {
      const answer = await fetch(to, init)
      if (!to.endsWith(link.id)) return answer
      return new Response(JSON.stringify({ ...((await answer.json()) as object), ...fields() }))
    }
    return lookAtRequest({ rest: createRest({ server: world.url, token: world.token, fetch: lying }), vault: world.vault, link })
  }
  t.same(await swapped(() => ({ publicKey: Buffer.from(engine.boxKeypair().publicKey).toString('base64') })), { type: 'altered' })
  t.same(await swapped(() => ({ kind: 'device' })), { type: 'altered' })
  for (const deviceKey of ['', '!', Buffer.alloc(31, 7).toString('base64')])
    t.same(await swapped(() => ({ deviceKey })), { type: 'altered' })
  const view = await swapped(() => ({ deviceKey: Buffer.alloc(32, 7).toString('base64') }))
  assert(view.type === 'waiting')
  t.equal(await view.approval.approve(linking.checkCode), 'wrong-code')
})

t.test('an answer not made with the secret of the link cannot be decrypted', async t => {
  const { world, linking, link } = await startLink(t)
  const view = await lookAtRequest({ rest: world.rest, vault: world.vault, link: { ...link, linkSecret: new Uint8Array(16) } })
  assert(view.type === 'waiting')
  t.equal(await view.approval.approve(linking.checkCode), 'wrong-code')
})

t.test('an approval whose token or answer does not decrypt is unreadable', async t => {
  const world = await startWorld(t)
  for (const changed of ['sealedToken', 'response']) {
    const altering: Fetch = async (to, init) => {
      const answer = await fetch(to, init)
      if (!to.includes('/poll')) return answer
      return Response.json({ ...((await answer.json()) as object), [changed]: Buffer.alloc(120, 1).toString('base64') })
    }
    const linking = await startLinking('terminal', { server: world.url, fetch: altering })
    assert(linking !== 'unsupported')
    const link = readRequestLink(linking.link)
    assert(link)
    const view = await lookAtRequest({ rest: world.rest, vault: world.vault, link })
    assert(view.type === 'waiting')
    await view.approval.approve(linking.checkCode)
    t.same(await linking.wait(), { type: 'unreadable' }, changed)
  }
})

t.test('a long name of a device is cut, and its token says until when it is valid', async t => {
  const world = await startWorld(t)
  const linking = await startLinking('terminal', { server: world.url, fetch, deviceName: 'x'.repeat(101) })
  assert(linking !== 'unsupported')
  const link = readRequestLink(linking.link)
  assert(link)
  const view = await lookAtRequest({ rest: world.rest, vault: world.vault, link })
  assert(view.type === 'waiting')
  t.equal(view.name, 'x'.repeat(100))
  await view.approval.approve(linking.checkCode)
  const before = Date.now()
  const end = await linking.wait()
  assert(end.type === 'paired')
  t.ok((end.signedIn.renewal?.expiresAt ?? 0) > before)
})

t.test('a poll that is asked to come later does, and the asker hears why', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const polls: string[] = []
  const busy: Fetch = (to, init) => {
    if (!to.includes('/poll')) return fetch(to, init)
    polls.push(to)
    const headers = { 'retry-after': '7' }
    return Promise.resolve(Response.json({ error: 'x' }, polls.length === 1 ? { status: 429, headers } : { status: 410 }))
  }
  const troubles: unknown[] = []
  const onTrouble = (_: unknown, error?: unknown) => void troubles.push(error)
  const linking = await startLinking('terminal', { server: world.url, fetch: busy, clock, onTrouble })
  assert(linking !== 'unsupported')
  const end = linking.wait()
  while (clock.pending === 0) await new Promise(done => setImmediate(done))
  clock.advance(6_999)
  await new Promise(done => setImmediate(done))
  t.equal(polls.length, 1)
  clock.advance(1)
  t.same(await end, { type: 'expired' })
  t.match(troubles, [{ name: 'Refused', status: 429 }])
})

t.test('an unanswered request expires, and a lost network only delays it', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const troubles: (string | undefined)[] = []
  let isAway = false
  const flaky: Fetch = (to, init) => (isAway ? Promise.reject(new Error('away')) : fetch(to, init))
  const linking = await startLinking('terminal', {
    server: world.url,
    fetch: flaky,
    clock,
    onTrouble: trouble => {
      troubles.push(trouble)
      isAway = false
    }
  })
  assert(linking !== 'unsupported')
  isAway = true
  const link = readRequestLink(linking.link)
  assert(link)
  const end = linking.wait()
  const view = await lookAtRequest({ rest: world.rest, vault: world.vault, link })
  assert(view.type === 'waiting')
  await view.approval.reject()
  while (clock.pending === 0) await new Promise(done => setImmediate(done))
  clock.advance(1_000)
  t.same(await end, { type: 'expired' })
  t.same(troubles, ['The server cannot be reached.'])
})

t.test('a request that the server no longer knows is gone for its approver, and over for its asker', async t => {
  const { world, link } = await startLink(t)
  const vault = world.vault
  t.same(await lookAtRequest({ rest: world.rest, vault, link: { ...link, id: link.id.replaceAll(/./g, '0') } }), { type: 'gone' })
  const failing = (error: Error) => ({ server: world.url, call: () => Promise.reject(error) }) as never
  t.same(await lookAtRequest({ rest: failing(new Refused(404, 'x')), vault, link }), { type: 'gone' })
  for (const error of [new Refused(403, 'x'), new Error('away')]) {
    await t.rejects(lookAtRequest({ rest: failing(error), vault, link }), error)
  }

  for (const [status, ends] of [
    [404, true],
    [410, true],
    [403, false]
  ] as const) {
    const forgetting: Fetch = (to, init) =>
      to.includes('/poll') ? Promise.resolve(Response.json({ error: 'x' }, { status })) : fetch(to, init)
    const linking = await startLinking('terminal', { server: world.url, fetch: forgetting })
    assert(linking !== 'unsupported')
    if (ends) t.same(await linking.wait(), { type: 'expired' }, String(status))
    else await t.rejects(linking.wait(), { name: 'Refused', status })
  }
})

t.test('after a trouble that is over the asker is told so, once', async t => {
  const world = await startWorld(t)
  const clock = manualClock()
  const troubles: unknown[] = []
  let left = 2
  const flaky: Fetch = (to, init) => (to.includes('/poll') && left-- > 0 ? Promise.reject(new Error('away')) : fetch(to, init))
  const onTrouble = (...trouble: unknown[]) => void troubles.push(trouble[0])
  const linking = await startLinking('terminal', { server: world.url, fetch: flaky, clock, onTrouble })
  assert(linking !== 'unsupported')
  const stop = new AbortController()
  const end = linking.wait(stop.signal).catch(error => error)
  for (let polls = 0; polls < 4; polls++) {
    while (clock.pending === 0) await new Promise(done => setImmediate(done))
    clock.advance(1_000)
  }
  while (clock.pending === 0) await new Promise(done => setImmediate(done))
  stop.abort(new Error('enough'))
  t.match(await end, { message: 'enough' })
  t.same(troubles, ['The server cannot be reached.', 'The server cannot be reached.', undefined])
})

t.test('a server that supports only legacy pairing is recognized', async t => {
  const old: Fetch = () => Promise.resolve(new Response('{"error":"Not found"}', { status: 404 }))
  t.equal(await startLinking('terminal', { server: 'https://old.example', fetch: old }), 'unsupported')
})

t.test('guessing a code succeeds less than once in a million in a year of trying [A8]', async t => {
  const { world, link } = await startLink(t)
  const [, , secret = ''] = world.token.split('.')
  // Far more than one server answers, and no limit of ours is needed for it.
  const triesPerYear = 1_000_000 * 365 * 24 * 3600
  const bits = {
    'the id of a request': link.id.length * 5,
    'the secret of a link': link.linkSecret.length * 8,
    // Six characters of it are a checksum.
    'a token': (secret.length - 6) * 6
  }
  for (const [what, of] of Object.entries(bits)) t.ok(triesPerYear / 2 ** of < 1e-6, `${what} has ${of} bits`)
})

t.test(
  'a device that reaches the server under a name the server does not know cannot renew a token, so it uses legacy pairing',
  async t => {
    const world = await startWorld(t)
    const elsewhere: Fetch = (to, init) => fetch(to.replace('https://elsewhere.example', world.url), init)
    t.equal(await startLinking('terminal', { server: 'https://elsewhere.example', fetch: elsewhere }), 'unsupported')
  }
)
