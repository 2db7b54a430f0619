import fc from 'fast-check'
import { type AccountId, type PairingId, pairingId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { PairingRequestDraft } from '../../../lib/store/access/pairings.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { deviceId, newAccount, openFor, type StorePlace, sha256, signInAs, tokenDraft } from './kit.ts'

const ttlMs = 5 * 60_000
const tokenEndsAt = 24 * 60 * 60_000

interface Request {
  state: 'waiting' | 'approved' | 'delivered' | 'refused'
  endsAt: number
  answer?: { account: AccountId; response: string }
  delivery?: object
  isAlarmed: boolean
}
interface Model {
  now: number
  requests: Map<string, Request>
}
interface Real {
  store: Store
  accounts: readonly AccountId[]
  round: number
  tokens: number
}
type Command = fc.AsyncCommand<Model, Real>

export function pairingRequestContract(t: Check, place: StorePlace): void {
  t.test(
    'a pairing request with a check code is approved once, and fetched only with its secret, unchanged until it expires [A7]',
    async t => {
      const store = await openFor(t, place)
      const accounts = await Promise.all([newAccount(store, 'ann'), newAccount(store, 'bob')])
      let round = 0
      await fc.assert(
        fc.asyncProperty(fc.commands(commands, { size: '+1' }), async script => {
          round++
          const real = { store, accounts, round, tokens: 0 }
          await fc.asyncModelRun(() => ({ model: { now: 0, requests: new Map() }, real }), script)
        }),
        { numRuns: 40 }
      )
    }
  )

  t.test('a removed device does not get its token again [A7] [A10]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const { poll } = await approvedRequest(store, ann)
    t.match([await poll(), await poll()], [{ state: 'delivered' }, { state: 'delivered' }])
    await store.removeDevice(ann, deviceId('device of laptop'))
    t.same(await poll(), { state: 'over' })
  })

  t.test('a device that another account tries to remove still gets its token again [A7] [I1]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    const { poll } = await approvedRequest(store, ann)
    const delivered = await poll()
    t.match(delivered, { state: 'delivered' })
    t.equal(await store.removeDevice(eve, deviceId('device of laptop')), 'missing')
    t.same(await poll(), delivered)
  })

  t.test('a request is stored unchanged, with or without a description', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const [id, other] = [v.parse(pairingId, 'a'), v.parse(pairingId, 'b')]
    const said = { kind: 'device', name: 'a laptop', publicKey: 'its key', deviceKey: 'its other key', from: '10.0.7' } as const
    await store.addPairingRequest({ ...said, id, about: 'sealed', pollHash: 'right', most: undefined, now: 0.5, endsAt: 9.5 })
    await store.addPairingRequest(draft(other, 0))
    const row = { ...said, about: 'sealed', state: 'waiting', account: null, endsAt: 9 }
    t.same(await store.readPairingRequest(id, 8), row)
    t.same(await store.readPairingRequest(id, 9), { ...row, state: 'over' })
    t.match(await store.readPairingRequest(other, 0), { about: null })
    await store.approvePairingRequest({ id, account: ann, device: null, response: 'one', now: 0 })
    t.same(await store.readPairingRequest(id, 8), { ...row, state: 'approved', account: ann })
    t.same(await store.readPairingRequest(v.parse(pairingId, 'c'), 0), 'unknown')
  })

  t.test('an answer can be fetched until its request ends, and not after its token has expired [A7]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const { poll } = await approvedRequest(store, ann, { tokenEndsAt: ttlMs - 5 })
    const delivered = await poll(1)
    t.match(delivered, { state: 'delivered', tokenEndsAt: ttlMs - 5 })
    t.same(await poll(ttlMs - 1), delivered)
    t.same(await poll(ttlMs), { state: 'over' })
    t.same(await store.endExpiredTokens(ttlMs - 5), ['laptop'])
    t.same(await poll(ttlMs - 1), { state: 'over' }, 'and its device is gone')
  })

  t.test('a token without a device or an expiry is not delivered, and the next poll still gets the answer [A7] [D4]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const { id, poll } = await approvedRequest(store, ann)
    for (const more of [{ device: null }, { expiresAt: null }]) {
      const token = () => ({ draft: { ...tokenDraft('terminal', 'wrong'), expiresAt: tokenEndsAt, ...more }, sealed: 'sealed' })
      await t.rejects(store.pollPairingRequest({ id, pollHash: 'right', now: 1, token }))
    }
    t.equal(await store.findBearer(sha256('wrong')), 'missing')
    t.match(await poll(), { state: 'delivered', device: 'device of laptop' })
  })

  t.test('the key of an account is read by its id', async t => {
    const store = await openFor(t, place)
    const [ann] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    t.equal(await store.readAccountKey(ann), sha256('key of ann'))
    t.equal(await store.readAccountKey(signInAs('nobody').newAccount), 'missing')
  })

  t.test('a flood from an IPv6 network of any width makes room within itself, and requests from elsewhere stay [A7]', async t => {
    const store = await openFor(t, place)
    const most = { here: 2, inAll: 2 }
    const ask = (id: string, from: string, now: number) => store.addPairingRequest({ ...draft(v.parse(pairingId, id), now), from, most })
    await ask('ann', '192.0.2', 0)
    for (let number = 1; number <= 9; number += 1) t.equal(await ask(`eve ${number}`, `2001:0db8:000${number}:00`, number), 'added')
    t.match(await store.readPairingRequest(v.parse(pairingId, 'ann'), 9), { state: 'waiting' })
    t.equal(await store.readPairingRequest(v.parse(pairingId, 'eve 8'), 9), 'unknown')
  })

  t.test('waiting requests are limited per network and in total, where the fullest network makes room [A7]', async t => {
    const store = await openFor(t, place)
    const most = { here: 2, inAll: 3 }
    const ask = (id: string, from: string, now = 0) => store.addPairingRequest({ ...draft(v.parse(pairingId, id), now), from, most })
    t.same([await ask('a', '10.0.0'), await ask('b', '10.0.0'), await ask('c', '10.0.0')], ['added', 'added', 'too-many'])
    t.equal(await ask('d', '10.0.1'), 'added')
    const states = async (...names: string[]) =>
      Promise.all(
        names.map(async name => {
          const row = await store.readPairingRequest(v.parse(pairingId, name), 1)
          return row === 'unknown' ? row : row.state
        })
      )
    t.equal(await ask('e', '10.0.2', 1), 'added', 'the oldest of the fullest network makes room')
    t.same(await states('a', 'b', 'd', 'e'), ['unknown', 'waiting', 'waiting', 'waiting'])
    t.equal(await ask('f', '10.0.2', 1), 'too-many', 'not for who has as many as the fullest')
    t.equal(await ask('g', '10.0.3', 1), 'added')
    t.same(await states('b', 'd', 'e', 'g'), ['unknown', 'waiting', 'waiting', 'waiting'], 'of equals the oldest')
    await store.rejectPairingRequest(v.parse(pairingId, 'd'), 1)
    t.equal(await ask('h', '10.0.3', 1), 'added', 'one that was refused waits no more')
    t.equal(await ask('i', '10.0.3', ttlMs + 1), 'added', 'nor does one whose time is up')
  })

  t.test('requests that arrive together find room as they would one by one [A7]', async t => {
    const most = { here: 3, inAll: 6 }
    const origins = ['10.0.0', '10.0.1', '10.0.2', '10.1.0', '10.2.0', '2001:0db8:0001:00', '2001:0db8:0002:00']
    const asked = fc.array(fc.record({ from: fc.constantFrom(...origins), isPoll: fc.boolean() }), { minLength: 8, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(asked, async asks => {
        const results = []
        for (const isTogether of [true, false]) {
          const store = await openFor(t, place)
          const ask = ({ from, isPoll }: (typeof asks)[number], number: number) => {
            const id = v.parse(pairingId, `request ${number}`)
            // A member of another kind in between.
            const before = isPoll ? store.rejectPairingRequest(v.parse(pairingId, `request ${number - 2}`), number) : undefined
            const added = store.addPairingRequest({ ...draft(id, number), from, most })
            return Promise.all([before, added])
          }
          const outcomes = isTogether ? await Promise.all(asks.map(ask)) : []
          if (!isTogether) for (const [number, each] of asks.entries()) outcomes.push(await ask(each, number))
          const rows = asks.map((_, number) => store.readPairingRequest(v.parse(pairingId, `request ${number}`), asks.length))
          results.push({ outcomes, states: (await Promise.all(rows)).map(row => (row === 'unknown' ? row : row.state)) })
          await store.close()
        }
        t.strictSame(results[0], results[1])
      }),
      { numRuns: 8 }
    )
  })
}

/** What lets `device of laptop` into the account, once it asks. */
async function approvedRequest(store: Store, account: AccountId, ends = { tokenEndsAt }) {
  const id = v.parse(pairingId, 'a')
  await store.addPairingRequest(draft(id, 0))
  await store.approvePairingRequest({ id, account, device: null, response: 'one', now: 0 })
  const token = () => ({ draft: { ...tokenDraft('terminal', 'laptop'), expiresAt: ends.tokenEndsAt }, sealed: 'sealed' })
  return { id, poll: (now = 1) => store.pollPairingRequest({ id, pollHash: 'right', now, token }) }
}

function draft(id: PairingId, now: number): PairingRequestDraft {
  const keys = { publicKey: 'key', deviceKey: `device ${id}`, pollHash: 'right' }
  return { id, kind: 'terminal', name: 'laptop', ...keys, from: '10.0.0', most: undefined, endsAt: now + ttlMs, now }
}

const key = fc.constantFrom('k1', 'k2')
const commands = [
  key.map(askCommand),
  fc.record({ name: key, pollHash: fc.constantFrom('right', 'right', 'wrong') }).map(pollCommand),
  fc.record({ name: key, who: fc.constantFrom(0, 1), response: fc.constantFrom('one', 'two') }).map(approveCommand),
  key.map(rejectCommand),
  fc.constantFrom(60_000, ttlMs).map(waitCommand)
]

const idOf = ({ round }: Real, name: string) => v.parse(pairingId, `${round}-${name}`)

function stateOf(request: Request | undefined, now: number): Request['state'] | 'unknown' | 'over' {
  if (!request) return 'unknown'
  if (request.state === 'delivered') return 'delivered'
  return request.state === 'refused' || now >= request.endsAt ? 'over' : request.state
}

function askCommand(name: string): Command {
  return {
    check: ({ requests }) => !requests.has(name),
    async run(model, real) {
      await real.store.addPairingRequest(draft(idOf(real, name), model.now))
      model.requests.set(name, { state: 'waiting', endsAt: model.now + ttlMs, isAlarmed: false })
    },
    toString: () => `ask ${name}`
  }
}

function pollCommand({ name, pollHash }: { name: string; pollHash: string }): Command {
  const step = ({ now, requests }: Model, token: string) => {
    const request = requests.get(name)
    const state = stateOf(request, now)
    if (!request) return 'unknown'
    if (pollHash === 'wrong') {
      const alarm = request.isAlarmed ? undefined : request.answer?.account
      if (alarm) request.isAlarmed = true
      return { state: 'strange', alarm }
    }
    if (state === 'waiting') return { state }
    if (state === 'approved' && request.answer) {
      request.state = 'delivered'
      const sealed = { sealedToken: `sealed ${token}`, tokenEndsAt, device: deviceId(`device of ${token}`) }
      request.delivery = { state: 'delivered', ...request.answer, ...sealed }
    }
    return request.delivery && now < request.endsAt ? request.delivery : { state: 'over' }
  }
  return {
    check: () => true,
    async run(model, real) {
      const token = `request-${real.round}-${real.tokens++}`
      const id = idOf(real, name)
      let minted = 0
      const mint = () => {
        minted += 1
        return { draft: { ...tokenDraft('terminal', token), expiresAt: tokenEndsAt }, sealed: `sealed ${token}` }
      }
      const isFirst = stateOf(model.requests.get(name), model.now) === 'approved' && pollHash === 'right'
      equal(await real.store.pollPairingRequest({ id, pollHash, now: model.now, token: mint }), step(model, token))
      equal([(await real.store.findBearer(sha256(token))) !== 'missing', minted], [isFirst, isFirst ? 1 : 0])
    },
    toString: () => `poll ${name} with the ${pollHash} secret`
  }
}

function approveCommand({ name, who, response }: { name: string; who: number; response: string }): Command {
  return {
    check: () => true,
    async run(model, real) {
      const account = real.accounts[who]
      if (!account) throw new Error('no such account')
      const request = model.requests.get(name)
      const state = stateOf(request, model.now)
      const isKnown = request !== undefined && state !== 'over'
      if (isKnown && state === 'waiting') Object.assign(request, { state: 'approved', answer: { account, response } })
      const isSame = request?.answer?.account === account && request.answer.response === response
      const wanted = !isKnown ? 'unknown' : isSame ? 'approved' : 'answered-before'
      equal(await real.store.approvePairingRequest({ id: idOf(real, name), account, device: null, response, now: model.now }), wanted)
    },
    toString: () => `approve ${name} as ${who} with ${response}`
  }
}

function rejectCommand(name: string): Command {
  return {
    check: () => true,
    async run(model, real) {
      const request = model.requests.get(name)
      const state = stateOf(request, model.now)
      const wanted = !request || state === 'over' ? 'unknown' : state === 'waiting' ? 'rejected' : 'answered-before'
      if (request && wanted === 'rejected') request.state = 'refused'
      equal(await real.store.rejectPairingRequest(idOf(real, name), model.now), wanted)
    },
    toString: () => `reject ${name}`
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

function equal(actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${is} instead of ${should}`)
}
