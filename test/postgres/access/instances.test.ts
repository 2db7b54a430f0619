import t, { type Test } from 'tap'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { PairingPoll, PairingRequestDraft } from '../../../lib/store/access/pairings.ts'
import type { Store } from '../../../lib/store/store.ts'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { deviceId, newAccount, sha256, signInAs, tokenDraft } from '../../store/contract/kit.ts'

type Pair = readonly [Store, Store]

/** As often as two that run into each other are sure to be seen. */
const rounds = 20

t.test('of what two instances do at the same moment, one succeeds', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const openPair = async (t: Pick<Test, 'teardown'>): Promise<Pair> => {
    const url = await postgres.makeDatabase()
    const stores: Pair = [await openPostgresStore(url, {}), await openPostgresStore(url, {})]
    t.teardown(() => Promise.all(stores.map(store => store.close())))
    return stores
  }

  t.test('one account is the first, and only it is created when only the first is allowed [A9]', async t => {
    const stores = await openPair(t)
    for (let round = 0; round < rounds; round += 1) {
      const create = round % 2 === 0 ? 'always' : 'if-first'
      const names = [`ann ${round}`, `bob ${round}`]
      await both(stores, (store, index) => store.signIn(signInAs(names[index] ?? '', { create })))
      const accounts = await stores[0].listAccounts()
      t.same(accounts.map(({ role }) => role).toSorted(), create === 'always' ? ['member', 'owner'] : ['owner'])
      for (const { id } of accounts.toSorted(ownerLast)) await stores[0].removeAccount(id)
    }
  })

  t.test('a server with accounts has an owner, also when the last one leaves while another comes', async t => {
    const stores = await openPair(t)
    for (let round = 0; round < rounds; round += 1) {
      const owner = await newAccount(stores[0], `ann ${round}`)
      await Promise.all([stores[0].removeAccount(owner), newAccount(stores[1], `bob ${round}`)])
      const accounts = await stores[0].listAccounts()
      t.equal(accounts.filter(({ role }) => role === 'owner').length, 1)
      for (const { id } of accounts.toSorted(ownerLast)) await stores[0].removeAccount(id)
    }
  })

  t.test('a new key gets one account', async t => {
    const stores = await openPair(t)
    for (let round = 0; round < rounds; round += 1) {
      const outcomes = await both(stores, (store, index) =>
        store.signIn(signInAs(`ann ${round}`, { newAccount: v.parse(ids.accountId, `account ${round} ${index}`) }))
      )
      t.same(outcomes.map(outcome => outcome.result === 'signed-in' && outcome.created).toSorted(), [false, true])
    }
    t.equal((await stores[0].listAccounts()).length, rounds)
  })

  t.test('an invitation lets in one key, by its code and when opened for a network [A9]', async t => {
    const stores = await openPair(t)
    const [used, left] = [v.parse(ids.inviteId, 'used'), v.parse(ids.inviteId, 'left')]
    for (let round = 0; round < rounds; round += 1) {
      const hash = sha256(`code ${round}`)
      await stores[0].addInvite({ id: used, hash, label: '', createdAt: 1, endsAt: 20 })
      await stores[0].addInvite({ id: left, hash: sha256(`other ${round}`), label: '', createdAt: 1, endsAt: 20 })
      const isOpened = round % 2 === 0
      if (isOpened) await stores[0].openInvite(hash, { network: 'home', now: 2, until: 20 })
      const create = { invite: isOpened ? null : hash, network: 'home' }
      const outcomes = await both(stores, (store, index) => store.signIn(signInAs(`guest ${round} ${index}`, { create, now: 3 })))
      t.same(outcomes.map(({ result }) => result).toSorted(), ['signed-in', 'unknown-key'])
      for (const invite of [used, left]) await stores[0].removeInvite(invite)
    }
  })

  t.test('a challenge works once, for a known key and for one that gets no account [A1]', async t => {
    const stores = await openPair(t)
    await newAccount(stores[0], 'ann')
    for (let round = 0; round < rounds; round += 1) {
      const isFresh = round % 2 === 0
      const known = { challengeHash: sha256(`challenge ${round}`), fresh: isFresh, token: () => tokenDraft() }
      t.same((await both(stores, store => store.signIn(signInAs('ann', known)))).map(({ result }) => result).toSorted(), [
        'challenge-used',
        'signed-in'
      ])
      const unknown = { challengeHash: sha256(`another ${round}`), fresh: isFresh, create: 'never' as const }
      t.same((await both(stores, store => store.signIn(signInAs('eve', unknown)))).map(({ result }) => result).toSorted(), [
        'challenge-used',
        'unknown-key'
      ])
    }
  })

  t.test('a challenge works for one of two keys [A1]', async t => {
    const stores = await openPair(t)
    await Promise.all([newAccount(stores[0], 'ann'), newAccount(stores[0], 'bob')])
    for (let round = 0; round < rounds; round += 1) {
      const ask = { challengeHash: sha256(`challenge ${round}`), fresh: round % 2 === 0 }
      const outcomes = await both(stores, (store, index) => store.signIn(signInAs(index === 0 ? 'ann' : 'bob', ask)))
      t.same(outcomes.map(({ result }) => result).toSorted(), ['challenge-used', 'signed-in'])
    }
  })

  t.test('a nonce renews a token once [A1]', async t => {
    const stores = await openPair(t)
    const device = { device: { id: deviceId('phone'), publicKey: 'key' } }
    const account = await signedUp(stores[0], 'ann', device)
    for (let round = 0; round < rounds; round += 1) {
      const token = () => tokenDraft('account', undefined, 'phone', device)
      const ask = { account, deviceKey: 'key', nonceHash: sha256(`nonce ${round}`), token, now: 1 }
      const outcomes = await both(stores, store => store.renewToken(ask))
      t.same(outcomes.map(({ result }) => result).toSorted(), ['nonce-used', 'renewed'])
    }
  })

  t.test('of several that renew at once, the newest token and the one before it stay', async t => {
    const stores = await openPair(t)
    const device = { device: { id: deviceId('phone'), publicKey: 'key' } }
    const account = await signedUp(stores[0], 'ann', device)
    for (let round = 0; round < rounds; round += 1) {
      const now = 100_000 * (round + 1)
      const names = Array.from({ length: 4 }, (_, index) => `${round} ${index}`)
      await Promise.all(
        names.map((name, index) => {
          const token = () => tokenDraft('account', name, 'phone', { ...device, createdAt: now })
          return stores[index < 2 ? 0 : 1].renewToken({ account, deviceKey: 'key', nonceHash: sha256(name), token, now })
        })
      )
      const bearers = await Promise.all([...names, `${round - 1} 3`].map(name => stores[0].findBearer(sha256(name))))
      t.equal(bearers.filter(bearer => bearer !== 'missing' && bearer.expiresAt === null).length, 2)
    }
  })

  t.test('an account gets no more devices than it may have [Q2]', async t => {
    const stores = await openPair(t)
    const account = await newAccount(stores[0], 'ann')
    for (let round = 0; round < rounds; round += 1) {
      await both(stores, (store, index) => {
        const name = `${round} ${index}`
        const token = () => tokenDraft('account', name, 'phone', { device: { id: deviceId(name), publicKey: null, most: 3 } })
        return store.signIn(signInAs('ann', { token, fresh: true }))
      })
      t.ok((await stores[0].listDevices(account)).length <= 3)
    }
  })

  t.test('a pairing is answered by one account, and delivered once [A7]', async t => {
    const stores = await openPair(t)
    const accounts = [await newAccount(stores[0], 'ann'), await newAccount(stores[0], 'bob')] as const
    for (let round = 0; round < rounds; round += 1) {
      const poll: PairingPoll = {
        kind: 'terminal',
        publicKey: `key ${round}`,
        supportsV2: true,
        from: '10.0.0',
        expiresAt: 100,
        now: 1,
        token: () => tokenDraft('terminal')
      }
      t.same(await both(stores, store => store.pollPairing(poll)), [{ state: 'waiting' }, { state: 'waiting' }])
      const answers = await both(stores, (store, index) =>
        store.answerPairing({ ...poll, response: `of ${index}`, account: accounts[index as 0 | 1] })
      )
      t.same(answers.toSorted(), ['answered', 'answered-before'])
      const winner = answers.indexOf('answered') as 0 | 1
      const polled = await both(stores, store => store.pollPairing(poll))
      t.same(polled.map(({ state }) => state).toSorted(), ['delivered', 'over'])
      t.match(
        polled.find(({ state }) => state === 'delivered'),
        { account: accounts[winner], response: `of ${winner}` }
      )
    }
    const devices = await Promise.all(accounts.map(account => stores[0].listDevices(account)))
    t.equal(devices.flat().length, accounts.length + rounds)
  })

  t.test('a pairing request is decided once, and its token is the same for every poll [A7]', async t => {
    const stores = await openPair(t)
    const accounts = [await newAccount(stores[0], 'ann'), await newAccount(stores[0], 'bob')] as const
    for (let round = 0; round < rounds; round += 1) {
      const id = v.parse(ids.pairingId, `request ${round}`)
      await stores[0].addPairingRequest(request(id))
      const approve = (store: Store, index: number) =>
        store.approvePairingRequest({ id, account: accounts[index as 0 | 1], device: null, response: `of ${index}`, now: 1 })
      const isRejected = round % 2 === 0
      const decisions = await both(stores, (store, index) =>
        isRejected && index === 1 ? store.rejectPairingRequest(id, 1) : approve(store, index)
      )
      const possible = [
        ['answered-before', 'approved'],
        ['rejected', 'unknown']
      ]
      t.ok(
        possible.some(pair => `${pair}` === `${decisions.toSorted()}`),
        `${decisions}`
      )
      const token = (account: AccountId) => {
        const draft = tokenDraft('terminal', undefined, 'laptop', { expiresAt: 1_000 })
        return { draft, sealed: `${draft.id} for ${account}` }
      }
      const polled = await both(stores, store => store.pollPairingRequest({ id, pollHash: 'right', now: 1, token }))
      t.same(polled[0], polled[1])
    }
  })

  t.test('no more pairing requests wait than may, and no more people [A7] [A9]', async t => {
    const stores = await openPair(t)
    const most = { here: 4, inAll: 6 }
    for (let round = 0; round < rounds / 5; round += 1) {
      const asks = Array.from({ length: 20 }, (_, index) => ({ store: stores[index % 2] as Store, name: `${round} ${index}`, index }))
      const now = 1 + round * 100
      const origin = (index: number) => `10.0.${index % 5}`
      await Promise.all(
        asks.flatMap(({ store, name, index }) => [
          store.addPairingRequest({ ...request(v.parse(ids.pairingId, name)), from: origin(index), most, now, endsAt: now + 99 }),
          store.pollPairing({
            kind: 'device',
            publicKey: name,
            supportsV2: true,
            from: origin(index),
            expiresAt: now + 99,
            most,
            now,
            token: () => tokenDraft('device')
          }),
          store.askSignup({
            publicKey: name,
            fingerprint: name,
            client: '',
            address: origin(index),
            askedAt: now,
            endsAt: now + 99,
            most: most.inAll
          })
        ])
      )
      const states = await Promise.all(asks.map(({ name }) => stores[0].readPairingRequest(v.parse(ids.pairingId, name), now)))
      t.equal(states.filter(row => row !== 'unknown' && row.state === 'waiting').length, most.inAll)
      const polled = await Promise.all(asks.map(({ name }) => stores[0].readPairing('device', name, now)))
      t.equal(polled.filter(({ status }) => status === 'waiting').length, most.inAll)
      t.equal((await stores[0].listSignups(now)).length, most.inAll)
    }
  })

  t.test('an ended token is reported by one of them', async t => {
    const stores = await openPair(t)
    const accounts = await Promise.all(Array.from({ length: 5 }, (_, index) => newAccount(stores[0], `account ${index}`)))
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(accounts.map(account => stores[0].addToken(account, tokenDraft('named', undefined, '', { expiresAt: 5 }))))
      const ended = (await both(stores, store => store.endExpiredTokens(5))).flat()
      t.equal(ended.length, accounts.length)
      t.equal(new Set(ended).size, accounts.length)
    }
  })

  t.test('both use the same secret', async t => {
    const stores = await openPair(t)
    for (let round = 0; round < rounds; round += 1) {
      const [first, second] = await both(stores, (store, index) => store.keepSecret(`secret ${round}`, Buffer.from([index])))
      t.same(first, second)
    }
  })
})

function both<T>(stores: Pair, run: (store: Store, index: number) => Promise<T>): Promise<[T, T]> {
  return Promise.all([run(stores[0], 0), run(stores[1], 1)])
}

const ownerLast = (one: { role: string }, other: { role: string }) => (one.role < other.role ? -1 : 1)

async function signedUp(store: Store, name: string, device: object): Promise<AccountId> {
  const outcome = await store.signIn(signInAs(name, { token: () => tokenDraft('account', undefined, 'phone', device) }))
  if (outcome.result !== 'signed-in') throw new Error(outcome.result)
  return outcome.account
}

function request(id: PairingRequestDraft['id']): PairingRequestDraft {
  const keys = { publicKey: 'key', deviceKey: `device ${id}`, pollHash: 'right' }
  return { id, kind: 'terminal', name: 'laptop', ...keys, from: '10.0.0', endsAt: 100, now: 1 }
}
