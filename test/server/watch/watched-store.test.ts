import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { AuditEvent, ServerEvent } from '../../../lib/server/watch/events.ts'
import { watchStore } from '../../../lib/server/watch/watched-store.ts'
import { openStore } from '../../../lib/store/open.ts'
import type { Store } from '../../../lib/store/store.ts'
import {
  deviceId,
  draft,
  found,
  localId,
  machineId,
  newMachine,
  newSession,
  sealed,
  sessionId,
  sha256,
  signInAs,
  tokenDraft,
  tokenId
} from '../../store/contract/kit.ts'

interface World {
  store: Store
  account: AccountId
  /** What was reported since the last call. */
  audits(): AuditEvent[]
  events(): ServerEvent[]
}

async function openWorld(t: Test): Promise<World> {
  const kept = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: error => t.error(error) })
  t.teardown(() => kept.close())
  const audits: AuditEvent[] = []
  const events: ServerEvent[] = []
  const store = watchStore(kept, { onAudit: event => audits.push(event), onEvent: event => events.push(event) }, () => 9)
  const signedIn = await kept.signIn(signInAs('ada', { token: () => tokenDraft('account', 'first') }))
  if (signedIn.result !== 'signed-in') throw new Error(signedIn.result)
  return { store, account: signedIn.account, audits: () => audits.splice(0), events: () => events.splice(0) }
}

/** The device of a token. */
async function deviceOf(store: Store, account: AccountId, token: string) {
  const device = found(await store.findDeviceOf(account, tokenId(token)))
  return v.parse(ids.deviceId, device)
}

t.test('a sign-in is reported with its token, and a new account before it', async t => {
  const { store, audits } = await openWorld(t)
  const token = (id: string) => () => tokenDraft('account', id, `label of ${id}`)
  const outcome = await store.signIn(signInAs('bob', { token: token('one') }))
  t.match(outcome, { result: 'signed-in', account: 'account-bob', created: true })
  t.strictSame(audits(), [
    { type: 'account-created', account: 'account-bob', at: 9 },
    { type: 'signed-in', account: 'account-bob', token: 'one', label: 'label of one', at: 9 }
  ])
  t.match(await store.signIn(signInAs('bob', { token: token('two') })), { created: false })
  t.strictSame(audits(), [{ type: 'signed-in', account: 'account-bob', token: 'two', label: 'label of two', at: 9 }])
})

t.test('a rejected sign-in is reported with its reason, and nothing else of it', async t => {
  const { store, audits } = await openWorld(t)
  t.same(await store.signIn(signInAs('eve', { create: 'never' })), { result: 'unknown-key' })
  t.strictSame(audits(), [{ type: 'sign-in-refused', reason: 'unknown-key', at: 9 }])
})

t.test('a pairing of an existing client is reported when it is approved and when its device has it, each once', async t => {
  const { store, account, audits } = await openWorld(t)
  const publicKey = sha256('of a terminal')
  const poll = () =>
    store.pollPairing({
      ...{ kind: 'terminal', publicKey, supportsV2: true, from: '10.0.0', expiresAt: 100, now: 1 },
      token: () => tokenDraft('terminal', 'paired', 'a laptop')
    })
  const answer = (response = 'sealed') => store.answerPairing({ kind: 'terminal', publicKey, response, account, now: 2 })
  t.equal(await answer(), 'unknown')
  t.match(await poll(), { state: 'waiting' })
  t.strictSame(audits(), [])
  t.equal(await answer(), 'answered')
  t.strictSame(audits(), [{ type: 'pairing-approved', account, at: 9 }])
  t.equal(await answer('other'), 'answered-before')
  t.strictSame(audits(), [])
  t.match(await poll(), { state: 'delivered', account, response: 'sealed' })
  t.strictSame(audits(), [{ type: 'device-paired', account, token: 'paired', kind: 'terminal', label: 'a laptop', at: 9 }])
  t.match(await poll(), { state: 'over' })
  t.strictSame(audits(), [])
})

t.test('a pairing with a check code is reported when it is approved and when its device has it, each once', async t => {
  const { store, account, audits } = await openWorld(t)
  const request: Parameters<Store['addPairingRequest']>[0] = {
    ...{ id: v.parse(ids.pairingId, 'p'.repeat(22)), kind: 'device', name: 'a tablet', publicKey: sha256('of a tablet') },
    ...{ deviceKey: sha256('that renews'), pollHash: sha256('a secret'), from: '10.0.0', endsAt: 100, now: 1 }
  }
  const { id, pollHash } = request
  const poll = (of = id) =>
    store.pollPairingRequest({
      ...{ id: of, pollHash, now: 3 },
      token: () => ({ draft: tokenDraft('device', 'paired', 'a tablet', { expiresAt: 1_000 }), sealed: 'for the tablet' })
    })
  const approve = (response = 'sealed') => store.approvePairingRequest({ id, account, device: null, response, now: 2 })
  t.equal(await poll(), 'unknown')
  t.equal(await approve(), 'unknown')
  t.equal(await store.addPairingRequest(request), 'added')
  t.match(await poll(), { state: 'waiting' })
  t.strictSame(audits(), [])
  t.equal(await approve(), 'approved')
  t.strictSame(audits(), [{ type: 'pairing-approved', account, at: 9 }])
  t.equal(await approve('other'), 'answered-before')
  t.strictSame(audits(), [])
  const delivered = await poll()
  t.match(delivered, { state: 'delivered', account, response: 'sealed', sealedToken: 'for the tablet' })
  t.strictSame(audits(), [{ type: 'device-paired', account, token: 'paired', kind: 'device', label: 'a tablet', at: 9 }])
  t.same(await poll(), delivered)
  t.strictSame(audits(), [], 'a repeat is not a new pairing')
})

t.test('a named token is reported when it is created and when it is revoked', async t => {
  const { store, account, audits } = await openWorld(t)
  await store.addToken(account, tokenDraft('named', 'mine', 'a script'))
  t.strictSame(audits(), [{ type: 'token-created', account, token: 'mine', label: 'a script', at: 9 }])
  t.same(
    (await store.listTokens(account)).map(({ id, label }) => [id, label]),
    [['mine', 'a script']]
  )
  t.equal(await store.revokeToken(account, tokenId('mine')), 'revoked')
  t.strictSame(audits(), [{ type: 'token-revoked', account, token: 'mine', at: 9 }])
  t.not(await store.revokeToken(account, tokenId('mine')), 'revoked')
  t.strictSame(audits(), [])
})

t.test('a removed device is reported with each of its tokens', async t => {
  const { store, account, audits } = await openWorld(t)
  const device = await deviceOf(store, account, 'first')
  t.equal(await store.removeDevice(account, deviceId('unknown')), 'missing')
  t.strictSame(audits(), [])
  t.same(await store.removeDevice(account, device), { tokens: ['first'] })
  t.strictSame(audits(), [
    { type: 'device-removed', account, device, at: 9 },
    { type: 'token-revoked', account, token: 'first', at: 9 }
  ])
})

t.test('a removed account is reported after each of its tokens, and one that stays is not', async t => {
  const { store, account, audits } = await openWorld(t)
  await store.signIn(signInAs('bob', { token: () => tokenDraft('account', 'of bob') }))
  audits()
  t.equal(await store.removeAccount(account), 'owner')
  t.strictSame(audits(), [])
  const bob = v.parse(ids.accountId, 'account-bob')
  t.same(await store.removeAccount(bob), { tokens: ['of bob'] })
  t.strictSame(audits(), [
    { type: 'token-revoked', account: bob, token: 'of bob', at: 9 },
    { type: 'account-removed', account: bob, at: 9 }
  ])
  t.equal(await store.removeAccount(bob), 'missing')
  t.strictSame(audits(), [])
})

t.test('a session and a machine are reported when they are new', async t => {
  const { store, account, events } = await openWorld(t)
  const machine = machineId('laptop')
  const session = await newSession(store, account, 'one')
  t.strictSame(events(), [{ type: 'session-opened', account, session, at: 9 }])
  t.equal(await newSession(store, account, 'one'), session)
  t.strictSame(events(), [])
  await newMachine(store, account, machine)
  t.strictSame(events(), [{ type: 'machine-opened', account, machine, at: 9 }])
  await newMachine(store, account, machine)
  t.strictSame(events(), [])
})

t.test('messages are reported once they are stored, without what is in them', async t => {
  const { store, account, events } = await openWorld(t)
  const session = await newSession(store, account, 'one')
  events()
  const drafts = [draft('hello', 'mine'), draft('again', null)]
  t.match(await store.appendMessages(account, session, drafts, 1), { added: [{ seq: 1 }, { seq: 2 }] })
  const messages = [
    { seq: 1, localId: localId('mine') },
    { seq: 2, localId: null }
  ]
  t.strictSame(events(), [{ type: 'messages-stored', account, session, messages, at: 9 }])
  t.match(await store.appendMessages(account, session, drafts.slice(0, 1), 1), { messages: [{ seq: 1 }], added: [] })
  t.equal(await store.appendMessages(account, sessionId('none'), drafts, 1), 'missing')
  t.strictSame(events(), [], 'nothing new was stored')
})

t.test('a written value and a removed row are reported, and what had no effect is not', async t => {
  const { store, account, events } = await openWorld(t)
  const session = await newSession(store, account, 'one')
  events()
  const value = { of: 'session', id: session, name: 'metadata' } as const
  t.match(await store.writeCell(account, value, 0, sealed('new'), 1), { written: true, version: 1 })
  t.strictSame(events(), [{ type: 'value-written', account, value, version: 1, at: 9 }])
  t.match(await store.writeCell(account, value, 0, sealed('newer'), 1), { written: false })
  t.equal(await store.writeCell(account, { ...value, id: sessionId('none') }, 0, sealed('x'), 1), 'missing')
  t.strictSame(events(), [])
  const row = { of: 'session', id: session } as const
  t.not(await store.remove(account, row), 'missing')
  t.strictSame(events(), [{ type: 'removed', account, row, at: 9 }])
  t.equal(await store.remove(account, row), 'missing')
  t.strictSame(events(), [])
})

t.test("whatever is not reported is the store's own, also of an embedder's with private parts", async t => {
  class Own {
    readonly #accounts = true
    readonly name = 'own'
    async hasAccounts() {
      return this.#accounts
    }
    async signIn() {
      return { result: 'signed-in', account: 'ada', created: false }
    }
  }
  const store = watchStore(new Own() as unknown as Store, { onAudit() {}, onEvent() {} }, () => 1)
  const { hasAccounts } = store
  t.equal(await hasAccounts(), true)
  t.equal(Reflect.get(store, 'name'), 'own')
  t.equal(Reflect.get(store, randomUUID()), undefined)
  await t.rejects(store.signIn(signInAs('ada')), { message: 'The store let somebody in without a token.' })
})
