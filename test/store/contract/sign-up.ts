import { inviteId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { inviteKeptMs } from '../../../lib/store/access/signup.ts'
import type { Check } from '../../contracts/check.ts'
import {
  draft,
  machineId,
  newAccount,
  newMachine,
  newSession,
  openFor,
  type StorePlace,
  sealed,
  sha256,
  signInAs,
  tokenDraft
} from './kit.ts'

const asks = (name: string, more: object = {}) => ({
  publicKey: sha256(`key of ${name}`),
  fingerprint: `words of ${name}`,
  client: 'an app',
  address: '192.0.2.1',
  askedAt: 10,
  endsAt: 20,
  most: 2,
  ...more
})
const invite = (name: string, more: object = {}) => ({
  id: v.parse(inviteId, name),
  hash: sha256(name),
  label: `for ${name}`,
  createdAt: 10,
  endsAt: 20,
  ...more
})

export function signUpContract(t: Check, place: StorePlace): void {
  t.test('an approval lets one key in, once, until it expires [A9]', async t => {
    const store = await openFor(t, place)
    const ann = signInAs('ann', { create: 'if-approved', now: 12 })
    t.equal(await store.readStanding(ann.publicKey, 10), 'unknown')
    t.equal(await store.askSignup(asks('ann')), 'waiting')
    t.equal(await store.readStanding(ann.publicKey, 19), 'waiting')
    t.equal(await store.readStanding(ann.publicKey, 20), 'unknown')
    t.same(await store.signIn(ann), { result: 'unknown-key' })

    t.equal(await store.decideSignup('words of nobody', { state: 'approved', now: 11, endsAt: 30 }), 'missing')
    t.equal(await store.decideSignup('words of ann', { state: 'approved', now: 11, endsAt: 30 }), 'decided')
    t.equal(await store.askSignup(asks('ann')), 'approved')
    t.same(await store.signIn(signInAs('bob', { create: 'if-approved', now: 12 })), { result: 'unknown-key' })
    t.same(await store.signIn(signInAs('ann', { create: 'if-approved', now: 30 })), { result: 'unknown-key' }, 'too late')
    t.match(await store.signIn(signInAs('ann', { create: 'if-approved', now: 29 })), { result: 'signed-in', created: true })
    t.equal(await store.readStanding(ann.publicKey, 29), 'member')
    t.equal(await store.decideSignup('words of ann', { state: 'approved', now: 29, endsAt: 40 }), 'missing', 'used up')
  })

  t.test('waiting people are limited, and a decision or time makes room', async t => {
    const store = await openFor(t, place)
    await store.askSignup(asks('ann'))
    await store.askSignup(asks('bob', { askedAt: 11 }))
    t.equal(await store.askSignup(asks('eve', { askedAt: 12 })), 'full')
    t.same(
      (await store.listSignups(12)).map(({ fingerprint }) => fingerprint),
      ['words of bob', 'words of ann']
    )
    await store.decideSignup('words of ann', { state: 'rejected', now: 12, endsAt: 40 })
    t.equal(await store.askSignup(asks('eve', { askedAt: 12 })), 'waiting')
    t.equal(await store.askSignup(asks('ann', { askedAt: 13 })), 'rejected')
    t.equal(await store.askSignup(asks('ida', { askedAt: 20, endsAt: 50 })), 'waiting')
    t.same(
      (await store.listSignups(20)).map(({ fingerprint }) => fingerprint),
      ['words of ida']
    )
  })

  t.test('when too many wait, the oldest of the address with the most makes room', async t => {
    const store = await openFor(t, place)
    const ask = (name: string, address: string, askedAt: number) => store.askSignup(asks(name, { address, askedAt, endsAt: askedAt + 10 }))
    const waiting = async () => (await store.listSignups(13)).map(({ fingerprint }) => fingerprint.replace('words of ', '')).toSorted()
    await ask('ann', '192.0.2.1', 10)
    await ask('bob', '192.0.2.1', 11)
    t.equal(await ask('ida', '192.0.2.2', 12), 'waiting')
    t.same(await waiting(), ['bob', 'ida'])
    t.equal(await ask('eve', '192.0.2.2', 13), 'full', 'but not for who has as many')
    t.equal(await ask('joe', '192.0.2.3', 13), 'waiting')
    t.same(await waiting(), ['ida', 'joe'])
  })

  t.test('a flood from an IPv6 network of any width makes room within itself, and people from elsewhere stay', async t => {
    const store = await openFor(t, place)
    const ask = (name: string, address: string, askedAt: number) => store.askSignup(asks(name, { address, askedAt, endsAt: askedAt + 50 }))
    await ask('ann', '192.0.2.1', 10)
    for (let number = 1; number <= 9; number += 1) {
      t.equal(await ask(`eve ${number}`, `2001:0db8:000${number}:0000:0000:0000:0000:0001`, 10 + number), 'waiting')
    }
    t.same(
      (await store.listSignups(20)).map(({ fingerprint }) => fingerprint),
      ['words of eve 9', 'words of ann']
    )
  })

  t.test('an invitation admits one person: by its code, or from the network where it was opened [A9]', async t => {
    const store = await openFor(t, place)
    const enter = (name: string, code: string | null, network: string, now: number) =>
      store.signIn(signInAs(name, { create: { invite: code === null ? null : sha256(code), network }, now })).then(({ result }) => result)
    await store.addInvite(invite('one'))
    t.equal(await enter('ann', 'another', 'home', 12), 'unknown-key')
    t.equal(await enter('ann', 'one', 'home', 20), 'unknown-key', 'too late')
    t.same(await Promise.all([enter('ann', 'one', 'home', 12), enter('bob', 'one', 'home', 12)]), ['signed-in', 'unknown-key'])
    t.equal(await store.openInvite(sha256('one'), { network: 'home', now: 12, until: 15 }), 'missing', 'used up')

    await store.addInvite(invite('two'))
    t.equal(await store.openInvite(sha256('two'), { network: 'home', now: 12, until: 15 }), 'opened')
    t.equal(await enter('bob', null, 'away', 13), 'unknown-key')
    t.equal(await enter('bob', null, 'home', 15), 'unknown-key', 'too late')
    t.same(await Promise.all([enter('bob', null, 'home', 14), enter('eve', null, 'home', 14)]), ['signed-in', 'unknown-key'])
    t.match(await store.listInvites(), [
      { id: 'two', usedAt: 14 },
      { id: 'one', usedAt: 12 }
    ])
    t.equal(await store.removeInvite(v.parse(inviteId, 'two')), 'removed')
    t.equal(await store.removeInvite(v.parse(inviteId, 'two')), 'missing')
  })

  t.test('an invitation is listed until a week after it ended, and then forgotten', async t => {
    const store = await openFor(t, place)
    const listed = async () => (await store.listInvites()).map(({ id }) => String(id))
    await store.addInvite(invite('first'))
    await store.addInvite(invite('second', { createdAt: 19 + inviteKeptMs, endsAt: 99 + inviteKeptMs }))
    t.same(await listed(), ['second', 'first'])
    await store.addInvite(invite('third', { createdAt: 20 + inviteKeptMs, endsAt: 99 + inviteKeptMs }))
    t.same(await listed(), ['third', 'second'])
  })

  t.test('the first account belongs to the owner, also when several sign up at once', async t => {
    const store = await openFor(t, place)
    await Promise.all(['ann', 'bob'].map(name => store.signIn(signInAs(name))))
    t.same(
      (await store.listAccounts()).map(({ role }) => role),
      ['owner', 'member']
    )
    t.equal(await store.readRole(signInAs('ann').newAccount), 'owner')
    t.equal(await store.readRole(signInAs('nobody').newAccount), 'missing')
  })

  t.test('a removed account leaves nothing, its tokens are invalid, and others keep theirs [A10]', async t => {
    const store = await openFor(t, place)
    const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    for (const account of [ann, bob]) {
      const session = await newSession(store, account, 'a session')
      await store.appendMessages(account, session, [draft('hello')], 1)
      await newMachine(store, account, machineId('laptop'))
      await store.addPushToken(account, { id: `push of ${account}`, token: 'a phone', now: 1 })
      await store.writeCell(account, { of: 'account', name: 'settings' }, 0, sealed('s'), 1)
      await store.addAccessKey(account, { session, machine: machineId('laptop') }, sealed('k'), 1)
      await store.remove(account, { of: 'session', id: await newSession(store, account) })
    }
    await store.signIn(signInAs('bob', { token: () => tokenDraft('account', 'bob’s token') }))
    const rows = await store.listAccounts()

    t.equal(await store.removeAccount(ann), 'owner', 'the owner stays while there are others')
    t.same(await store.listAccounts(), rows)
    const removed = await store.removeAccount(bob)
    t.ok(typeof removed === 'object' && removed.tokens.includes('bob’s token' as never))
    t.equal(await store.findBearer(sha256('bob’s token')), 'missing')
    t.same([await store.listSessions(bob, 9), await store.listMachines(bob), await store.listPushTokens(bob)], [[], [], []])
    t.equal((await store.listSessions(ann, 9)).length, 1)
    t.same(await store.listAccounts(), rows.slice(0, 1))
    t.equal(await store.removeAccount(bob), 'missing')
    t.equal(typeof (await store.removeAccount(ann)), 'object', 'the owner goes last')
    t.equal(await store.hasAccounts(), false)
  })
}
