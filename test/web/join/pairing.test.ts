import assert from 'node:assert/strict'
import t, { type Test } from 'tap'
import { Refused, type Rest, startDeviceLinking, startLinking, startPairing, Unreachable } from '../../../lib/client/index.ts'
import { lookAtLink, type PairingView, type ReadyToLink } from '../../../web/join/pairing.ts'
import { turn } from '../../client/link/fake-link.ts'
import { startWorld, type World } from '../../client/world.ts'
import { manualClock } from '../../kit/manual-clock.ts'

/** A signed-in device, whose calls fail once `fails` is set. */
async function startDevice(t: Test) {
  const world = await startWorld(t)
  const state: { fails: Error | undefined } = { fails: undefined }
  const call = (...asked: Parameters<Rest['call']>) => (state.fails ? Promise.reject(state.fails) : world.rest.call(...asked))
  const look = (href: string, server = world.url) => lookAtLink({ rest: { server, call } as Rest, vault: world.vault }, href)
  return { world, state, look }
}

async function startRequest({ url: server }: World, kind: 'terminal' | 'device') {
  const linking = await startLinking(kind, { server, fetch, deviceName: 'orchard-mini', about: { os: 'Debian' } })
  assert(linking !== 'unsupported')
  return linking
}

function ready(view: PairingView): ReadyToLink {
  assert(view.type === 'ready', view.type)
  return view
}

/** Four digits that are not these. */
const otherThan = (code: string) => String((Number(code) + 1) % 10_000).padStart(4, '0')

t.test('a request shows who asks, and what it would get', async t => {
  const { world, look } = await startDevice(t)
  for (const [kind, isDevice] of [
    ['terminal', false],
    ['device', true]
  ] as const) {
    const { link, checkCode } = await startRequest(world, kind)
    const before = Date.now()
    const view = ready(await look(link))
    t.match(view, { isDevice, getsAll: isDevice, asker: { name: 'orchard-mini', from: /^127/, about: { os: 'Debian' } } })
    t.ok((view.endsAt ?? 0) > before + 200_000 && (view.endsAt ?? 0) <= Date.now() + 300_000, 'five minutes at most')
    t.same(await view.answer(otherThan(checkCode)), { type: 'wrong-code' })
    t.same(await view.answer(checkCode), { type: 'linked', isDevice, name: 'orchard-mini' })
    t.match(await look(link), { type: 'answered', name: 'orchard-mini', isYours: true })
  }
})

t.test('a rejected request is over, also if the server does not hear it', async t => {
  const { world, state, look } = await startDevice(t)
  const { link } = await startRequest(world, 'terminal')
  const view = ready(await look(link))
  state.fails = new Unreachable('network')
  await view.refuse()
  state.fails = undefined
  t.equal((await look(link)).type, 'ready')
  await view.refuse()
  t.same(await look(link), { type: 'gone' })
})

t.test('a request of the first kind has no code, and an older one gets the account key', async t => {
  const { world, look } = await startDevice(t)
  const asOlder: typeof fetch = (url, init) =>
    fetch(url, { ...init, body: String(init?.body).replace('"supportsV2":true', '"supportsV2":false') })
  const rows = [
    [startPairing, fetch, { isDevice: false, getsAll: false }, { version: 2 }],
    [startPairing, asOlder, { isDevice: false, getsAll: true }, { version: 1, secret: world.vault.secret }],
    [startDeviceLinking, fetch, { isDevice: true, getsAll: true }, { secret: world.vault.secret }]
  ] as const
  for (const [begin, fetch, shown, keys] of rows) {
    const clock = manualClock()
    const hasAsked = Promise.withResolvers<void>()
    const watched: typeof fetch = (url, init) => fetch(url, init).finally(() => setImmediate(hasAsked.resolve))
    const pairing = begin({ server: world.url, fetch: watched, clock, deviceName: 'orchard-mini' })
    const end = pairing.wait()
    await hasAsked.promise
    const view = ready(await look(pairing.link))
    t.match(view, { ...shown, asker: undefined, endsAt: undefined })
    await view.refuse()
    t.equal((await look(pairing.link)).type, 'ready', 'it cannot be rejected')
    t.same(await view.answer(''), { type: 'linked', isDevice: shown.isDevice, name: undefined })
    if (!shown.isDevice) t.same(await look(pairing.link), { type: 'answered' })
    await turn()
    clock.advance(1000)
    t.match(await end, { type: 'paired', keys })
  }
})

t.test('a link that leads nowhere says why', async t => {
  const { world, state, look } = await startDevice(t)
  const { link } = await startRequest(world, 'terminal')
  const ended = startPairing({ server: world.url, fetch, deviceName: 'orchard-mini' }).link
  t.same(await look(ended), { type: 'gone' }, 'it has not asked')
  for (const href of ['', 'https://home.example/', 'nonsense']) t.same(await look(href), { type: 'bad-link' }, href)

  const other = 'https://other.example'
  t.same(await look(ended, other), { type: 'other-server', host: new URL(world.url).host, href: ended })
  t.equal((await look(link, other)).type, 'ready', 'a server that knows it is the right one, whatever its address')
  for (const fails of [new Unreachable('network'), new Refused(500, 'no'), new TypeError('no')]) {
    state.fails = fails
    t.same(await look(link), { type: 'unreachable' }, fails.message)
  }
})

t.test('an answer that the server did not take says why', async t => {
  const { world, state, look } = await startDevice(t)
  const { link, checkCode } = await startRequest(world, 'terminal')
  const view = ready(await look(link))
  const rows: [Error, Awaited<ReturnType<ReadyToLink['answer']>>][] = [
    [new Unreachable('timeout'), { type: 'unreachable' }],
    [new TypeError('no'), { type: 'unreachable' }],
    [new Refused(404, 'Request not found'), { type: 'gone' }],
    [new Refused(410, 'Gone'), { type: 'gone' }],
    [new Refused(409, 'Answered'), { type: 'answered' }],
    [new Refused(403, 'Not allowed'), { type: 'not-answered', message: 'Not allowed' }]
  ]
  for (const [error, said] of rows) {
    state.fails = error
    t.same(await view.answer(checkCode), said, error.message)
  }
})
