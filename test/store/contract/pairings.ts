import fc from 'fast-check'
import { type AccountId, type PairingId, pairingId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { PairingAnswer, PairingPoll, PairingPolled, PairingRequestDraft } from '../../../lib/store/access/pairings.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { deviceId, newAccount, openFor, type StorePlace, sha256, tokenDraft } from './kit.ts'

const ttlMs = 5 * 60_000
const dayMs = 24 * 60 * 60_000

interface Request {
  from: string
  endsAt: number
  supportsV2: boolean
  answer?: { account: AccountId; response: string }
  delivered: boolean
  askedAgain: boolean
}
interface Model {
  now: number
  requests: Map<string, Request>
}
interface Real {
  store: Store
  accounts: readonly AccountId[]
  tokens: number
}
type Command = fc.AsyncCommand<Model, Real>

export function pairingContract(t: Check, place: StorePlace): void {
  t.test('a request is answered once and delivered once, to its creator only, reports a second fetch once, and expires [A7]', async t => {
    const store = await openFor(t, place)
    const accounts = await Promise.all([newAccount(store, 'ann'), newAccount(store, 'bob')])
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { size: '+1' }), async script => {
        round++
        const real = { store: ownKeys(store, round), accounts, tokens: round * 1_000_000 }
        await fc.asyncModelRun(() => ({ model: { now: 0, requests: new Map() }, real }), script)
      }),
      { numRuns: 100 }
    )
  })

  t.test('the token of a delivered answer works at once, and only that one', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const ask = poll({ token: () => tokenDraft('terminal', 'terminal-token') })
    await store.pollPairing(ask)
    await store.answerPairing({ kind: 'terminal', publicKey: ask.publicKey, response: 'sealed', account: ann, now: 1 })
    t.equal(await store.findBearer(sha256('terminal-token')), 'missing', 'not before it is delivered')

    const both = await Promise.all([store.pollPairing(ask), store.pollPairing({ ...ask, token: () => tokenDraft('terminal', 'twice') })])
    t.same(both, [
      { state: 'delivered', account: ann, response: 'sealed', device: 'device of terminal-token' },
      { state: 'over', again: ann }
    ])
    t.match(await store.findBearer(sha256('terminal-token')), { account: ann, token: 'terminal-token', kind: 'terminal' })
    t.equal(await store.findBearer(sha256('twice')), 'missing')
  })

  t.test('waiting requests are limited per network and in total, where the fullest network makes room [A7]', async t => {
    const store = await openFor(t, place)
    const most = { here: 2, inAll: 3 }
    const ask = async (publicKey: string, from: string, now = 0) =>
      (await store.pollPairing(poll({ publicKey, from, most, now, expiresAt: now + ttlMs }))).state
    const waiting = async (...keys: string[]) =>
      Promise.all(keys.map(async key => (await store.readPairing('terminal', key, 1)).status === 'waiting'))
    t.same([await ask('a', '10.0.0'), await ask('b', '10.0.0', 1), await ask('c', '10.0.0', 1)], ['waiting', 'waiting', 'full'])
    t.same([await ask('d', '10.0.1', 1), await ask('e', '10.0.2', 1)], ['waiting', 'waiting'])
    t.same(await waiting('a', 'b', 'd', 'e'), [false, true, true, true])
    t.equal(await ask('f', '10.0.2', 1), 'full', 'not for who has as many as the fullest')
    const ann = await newAccount(store, 'ann')
    await store.answerPairing({ kind: 'terminal', publicKey: 'd', response: 'sealed', account: ann, now: 1 })
    t.equal(await ask('f', '10.0.2', 1), 'waiting', 'one that was answered waits no more')
    t.same(await waiting('b', 'e', 'f'), [true, true, true])
  })

  t.test('requests of both kinds are forgotten a day after they ended, and a delivered one a day after its delivery', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const id = v.parse(pairingId, 'a')
    await store.pollPairing(poll({ publicKey: 'old' }))
    await store.pollPairing(poll({ publicKey: 'fetched' }))
    await store.addPairingRequest(requestOf(id))
    await store.answerPairing({ kind: 'terminal', publicKey: 'fetched', response: 'sealed', account: ann, now: 5 })
    t.match(await store.pollPairing(poll({ publicKey: 'fetched', now: 10 })), { state: 'delivered' })
    const states = async (now: number) => {
      await store.sweepPairings(now)
      const request = await store.readPairingRequest(id, now)
      return [
        (await store.readPairing('terminal', 'old', now)).status,
        (await store.readPairing('terminal', 'fetched', now)).status,
        request === 'unknown' ? request : request.state
      ]
    }
    t.same(await states(10 + dayMs - 1), ['over', 'answered', 'over'])
    t.same(await states(10 + dayMs), ['over', 'unknown', 'over'])
    t.same(await states(ttlMs + dayMs - 1), ['over', 'unknown', 'over'])
    t.same(await states(ttlMs + dayMs), ['unknown', 'unknown', 'unknown'])
  })

  t.test('when the clock is moved, waiting requests of both kinds end that much later, once, and others stay as they are', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const [id, ended] = [v.parse(pairingId, 'a'), v.parse(pairingId, 'b')]
    await store.pollPairing(poll({ publicKey: 'waits' }))
    await store.pollPairing(poll({ publicKey: 'ended', expiresAt: 10 }))
    await store.pollPairing(poll({ publicKey: 'fetched' }))
    await store.answerPairing({ kind: 'terminal', publicKey: 'fetched', response: 'sealed', account: ann, now: 1 })
    await store.pollPairing(poll({ publicKey: 'fetched', now: 11 }))
    await store.addPairingRequest(requestOf(id))
    await store.addPairingRequest({ ...requestOf(ended), endsAt: 10 })
    const hour = 60 * 60_000
    // A second call with the same step moves nothing more.
    for (let calls = 0; calls < 2; calls += 1) await store.movePairings({ from: 10.5, byMs: hour - 0.4, mostMs: ttlMs - 10.5 })
    const state = async (id: PairingId, now: number) => {
      const request = await store.readPairingRequest(id, now)
      return request === 'unknown' ? request : request.state
    }
    const end = ttlMs + hour
    for (const [now, is, request] of [
      [end - 1, 'waiting', 'waiting'],
      [end, 'over', 'over']
    ] as const)
      t.same([(await store.readPairing('terminal', 'waits', now)).status, await state(id, now)], [is, request])
    t.same([(await store.readPairing('terminal', 'ended', 11)).status, await state(ended, 11)], ['over', 'over'])
    await store.sweepPairings(11 + dayMs)
    t.same([(await store.readPairing('terminal', 'ended', 11)).status, await state(ended, 11)], ['unknown', 'unknown'])
    t.equal((await store.readPairing('terminal', 'fetched', 11)).status, 'unknown', 'it ended when it was fetched')
    t.equal((await store.readPairing('terminal', 'waits', 11)).status, 'waiting')
  })

  t.test('a device and a terminal with the same key are two requests', async t => {
    const store = await openFor(t, place)
    await store.pollPairing(poll({ kind: 'device' }))
    t.same(await store.readPairing('terminal', 'key', 0), { status: 'unknown', supportsV2: false })
    t.same(await store.readPairing('device', 'key', 0), { status: 'waiting', supportsV2: true })
  })
}

function requestOf(id: PairingId): PairingRequestDraft {
  const said = { name: 'laptop', publicKey: 'key', deviceKey: 'device', pollHash: 'right', from: '10.0.0' }
  return { id, kind: 'terminal', ...said, most: undefined, endsAt: ttlMs, now: 0 }
}

function poll(more: Partial<PairingPoll> = {}): PairingPoll {
  const ask = { kind: 'terminal' as const, publicKey: 'key', supportsV2: true, from: '10.0.0', expiresAt: ttlMs, now: 0 }
  return { ...ask, token: () => tokenDraft('terminal'), ...more }
}

// Each round of the property has keys nobody asked with before.
function ownKeys(store: Store, round: number): Store {
  const own = (key: string) => `${round} ${key}`
  return {
    ...store,
    pollPairing: ask => store.pollPairing({ ...ask, publicKey: own(ask.publicKey) }),
    readPairing: (kind, key, now) => store.readPairing(kind, own(key), now),
    answerPairing: answer => store.answerPairing({ ...answer, publicKey: own(answer.publicKey) })
  }
}

const key = fc.constantFrom('k1', 'k2')
const commands = [
  fc.record({ publicKey: key, from: fc.constantFrom('10.0.0', '10.9.9'), supportsV2: fc.boolean() }).map(pollCommand),
  fc.record({ publicKey: key, who: fc.constantFrom(0, 1), response: fc.constantFrom('one', 'two') }).map(answerCommand),
  key.map(statusCommand),
  fc.constantFrom(60_000, ttlMs, dayMs - ttlMs, dayMs).map(waitCommand),
  fc.constant(sweepCommand())
]

function stateOf(request: Request, now: number): 'waiting' | 'answered' | 'delivered' | 'expired' {
  if (request.delivered) return 'delivered'
  if (now >= request.endsAt) return 'expired'
  return request.answer ? 'answered' : 'waiting'
}

function pollCommand({ publicKey, from, supportsV2 }: { publicKey: string; from: string; supportsV2: boolean }): Command {
  const step = (model: Model, id: string): PairingPolled => {
    const request = model.requests.get(publicKey)
    if (!request) {
      model.requests.set(publicKey, { from, supportsV2, endsAt: model.now + ttlMs, delivered: false, askedAgain: false })
      return { state: 'waiting' }
    }
    const state = stateOf(request, model.now)
    if (state === 'expired') return { state: 'over', again: undefined }
    if (state === 'delivered') {
      const again = request.askedAgain ? undefined : request.answer?.account
      request.askedAgain = true
      return { state: 'over', again }
    }
    if (!request.answer || request.from !== from) return { state: 'waiting' }
    Object.assign(request, { delivered: true, endsAt: model.now })
    return { state: 'delivered', ...request.answer, device: deviceId(`device of ${id}`) }
  }
  return {
    check: () => true,
    async run(model, real) {
      const id = `pairing-${real.tokens++}`
      const ask = poll({ publicKey, from, supportsV2, now: model.now, expiresAt: model.now + ttlMs })
      const polled = await real.store.pollPairing({ ...ask, token: () => tokenDraft('terminal', id) })
      equal(polled, step(model, id))
      const bearer = await real.store.findBearer(sha256(id))
      equal(bearer === 'missing' ? undefined : bearer.account, polled.state === 'delivered' ? polled.account : undefined)
    },
    toString: () => `poll ${publicKey} from ${from}`
  }
}

function answerCommand({ publicKey, who, response }: { publicKey: string; who: number; response: string }): Command {
  const step = (model: Model, { account, now }: PairingAnswer) => {
    const request = model.requests.get(publicKey)
    if (!request || stateOf(request, now) === 'expired') return 'unknown'
    request.answer ??= { account, response }
    return request.answer.account === account && request.answer.response === response ? 'answered' : 'answered-before'
  }
  return {
    check: () => true,
    async run(model, { store, accounts }) {
      const account = accounts[who]
      if (!account) throw new Error('no such account')
      const answer: PairingAnswer = { kind: 'terminal', publicKey, response, account, now: model.now }
      equal(await store.answerPairing(answer), step(model, answer))
    },
    toString: () => `answer ${publicKey} as ${who} with ${response}`
  }
}

function statusCommand(publicKey: string): Command {
  return {
    check: () => true,
    async run(model, { store }) {
      const request = model.requests.get(publicKey)
      const names = { waiting: 'waiting', answered: 'answered', delivered: 'answered', expired: 'over' } as const
      const status = request ? names[stateOf(request, model.now)] : 'unknown'
      equal(await store.readPairing('terminal', publicKey, model.now), {
        status,
        supportsV2: status === 'waiting' && request?.supportsV2 === true
      })
    },
    toString: () => `status ${publicKey}`
  }
}

function waitCommand(ms: number): Command {
  return {
    check: () => true,
    async run(model) {
      model.now += ms
    },
    toString: () => `wait ${ms}`
  }
}

function sweepCommand(): Command {
  return {
    check: () => true,
    async run(model, { store }) {
      await store.sweepPairings(model.now)
      for (const [publicKey, { endsAt }] of model.requests) {
        if (endsAt <= model.now - dayMs) model.requests.delete(publicKey)
      }
    },
    toString: () => 'sweep'
  }
}

function equal(actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${is} instead of ${should}`)
}
