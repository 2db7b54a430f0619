import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { PairingPoll } from '../../../lib/store/access/pairings.ts'
import { mostRemovalsKept } from '../../../lib/store/changes.ts'
import { noQuotas } from '../../../lib/store/quotas.ts'
import type { CellRef } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import {
  deviceId,
  draft,
  localId,
  machineId,
  newAccount,
  openFor,
  readAll,
  type StorePlace,
  sealed,
  sessionId,
  sha256,
  signInAs,
  tokenDraft,
  tokenId
} from './kit.ts'

/** Both accounts call everything that clients name by the same names. */
const session = sessionId('s')
const machine = machineId('m')
const artifact = v.parse(ids.artifactId, 'a')
const key = v.parse(ids.kvKey, 'k')
const small = sealed('x')
const attachment = v.parse(ids.attachmentId, '00000000-0000-4000-8000-000000000000.enc')

/** What the server names has a name of its own in each. */
const phoneOf = (account: AccountId) => deviceId(`phone of ${account}`)
const phoneTokenOf = (account: AccountId) => tokenId(`token of the phone of ${account}`)
const namedTokenOf = (account: AccountId) => tokenId(`named token of ${account}`)

/** One browser may be signed in to both, with one key. */
const theSameKey = 'the same key'
const keyed = (account: AccountId) => ({ device: { id: phoneOf(account), publicKey: theSameKey } })

export function namesakeContract(t: Check, place: StorePlace): void {
  for (const whose of ['first', 'second'] as const) {
    t.test(`with identical names everywhere, actions of the ${whose} of two accounts do not affect the other [I1] [I3]`, async t => {
      const store = await openFor(t, place)
      const [first, second] = [await signUp(store, 'ann'), await signUp(store, 'bob')]
      await fill(store, first, 1)
      await fill(store, second, 2)
      const [actor, other] = whose === 'first' ? [first, second] : [second, first]
      const before = await everythingOf(store, other)
      for (const [name, act] of Object.entries(acts)) {
        await act(store, actor, other)
        t.same(await everythingOf(store, other), before, name)
      }
      t.match(await store.pollPairingRequest(requestOf(other)), { state: 'delivered' })
      t.match(await store.pollPairing(pairingOf(other)), { state: 'delivered' }, 'what the other let in may still come in')
    })
  }

  t.test('excess push tokens are counted for the account alone [I1]', async t => {
    const store = await openFor(t, place)
    const [first, second] = [await signUp(store, 'ann'), await signUp(store, 'bob')]
    await store.addPushToken(first, { id: 'a', token: 'newer', now: 9 })
    await store.addPushToken(second, { id: 'b', token: 'own', now: 1 }, { ...noQuotas, pushTokens: 1 })
    t.match(await store.listPushTokens(second), [{ token: 'own' }])
  })

  t.test('the clock and keys of an account are its own [I1]', async t => {
    const store = await openFor(t, place)
    const [first, second] = [await signUp(store, 'ann'), await signUp(store, 'bob')]
    await store.mutateKv(first, [{ key: v.parse(ids.kvKey, 'of the first'), value: small, version: -1 }], 1)
    await store.mutateKv(second, [{ key: v.parse(ids.kvKey, 'of the second'), value: small, version: -1 }], 1)
    const page = await store.changesSince(second, { epoch: undefined, since: 0, began: undefined, limit: 1 })
    t.match(page, { clock: 1, kv: [{ key: 'of the second' }] })
    await store.openSession(second, { id: session, tag: 'tag', metadata: small, agentState: null, dataKey: null, now: 1 })
    t.match(await store.appendMessages(second, session, [draft('x')], 1), { clock: 3 })
    t.match(await store.appendMessages(second, session, [draft('y')], 1, { ...noQuotas, messages: 2 }), { clock: 4 })
  })

  t.test('a missing account has nothing, and nothing can be written to it [I1]', async t => {
    const store = await openFor(t, place)
    await newAccount(store, 'ann')
    const nobody = v.parse(ids.accountId, 'nobody')
    t.equal(await store.accountCreatedAt(nobody), 'missing')
    t.equal(await store.readLegacyLogin(nobody), 'missing')
    t.equal(await store.readAccountKey(nobody), 'missing')
    t.equal(await store.readRole(nobody), 'missing')
    t.equal(await store.writeCell(nobody, { of: 'account', name: 'settings' }, 0, sealed('mine'), 9), 'missing')
  })
}

async function signUp(store: Store, name: string): Promise<AccountId> {
  const token = (account: AccountId) => tokenDraft('account', phoneTokenOf(account), 'phone', keyed(account))
  const outcome = await store.signIn(signInAs(name, { token }))
  if (outcome.result !== 'signed-in') throw new Error(outcome.result)
  return outcome.account
}

/** A terminal that each account has let in from its phone, and that has not fetched the answer yet. */
const pairingOf = (account: AccountId): PairingPoll => ({
  kind: 'terminal',
  publicKey: `terminal of ${account}`,
  supportsV2: true,
  from: '10.0.0',
  expiresAt: 100,
  now: 50,
  token: () => tokenDraft('terminal', `terminal of ${account}`)
})

const requestOf = (account: AccountId) => ({
  id: v.parse(ids.pairingId, `request-${account}`),
  pollHash: sha256('poll'),
  now: 50,
  token: () => ({ draft: { ...tokenDraft('terminal', `requested by ${account}`), expiresAt: 1_000 }, sealed: 'sealed' })
})

async function fill(store: Store, account: AccountId, at: number): Promise<void> {
  const mine = sealed(`of ${account}`)
  const request = requestOf(account)
  const asked = {
    kind: 'terminal',
    name: 'laptop',
    publicKey: 'p',
    deviceKey: `device key of ${account}`,
    from: '10.0.0',
    endsAt: 100
  } as const
  await store.addPairingRequest({ ...request, ...asked })
  await store.approvePairingRequest({ ...request, account, device: phoneOf(account), response: 'c2VhbGVk' })
  const pairing = pairingOf(account)
  await store.pollPairing(pairing)
  await store.answerPairing({ ...pairing, response: 'c2VhbGVk', account, device: phoneOf(account) })
  await store.setLegacyLogin(account, 'once')
  await store.openSession(account, { id: session, tag: 'tag', metadata: mine, agentState: mine, dataKey: null, now: at })
  await store.openMachine(account, { id: machine, metadata: mine, daemonState: mine, dataKey: null, now: at })
  await store.openArtifact(account, { id: artifact, header: mine, body: mine, dataKey: mine, now: at })
  // As many updates more as `at` says, so that no two accounts have the same clock.
  for (let count = 0; count < at; count += 1) await store.appendMessages(account, session, [draft(mine)], at)
  const gone = v.parse(ids.artifactId, 'gone')
  await store.openArtifact(account, { id: gone, header: mine, body: mine, dataKey: mine, now: at })
  await store.remove(account, { of: 'artifact', id: gone })
  await store.addAccessKey(account, { session, machine }, mine, at)
  await store.putUsageReport(account, { id: `${at}`, key: 'k', session, tokens: { total: at }, cost: { total: at }, now: at })
  await store.mutateKv(account, [{ key, value: mine, version: -1 }], at)
  await store.writeCell(account, { of: 'account', name: 'settings' }, 0, mine, at)
  await store.addPushToken(account, { id: `${at}`, token: 'phone', device: phoneOf(account), now: at })
  await store.addToken(account, tokenDraft('named', namedTokenOf(account), 'backup'))
  await store.openUpload(account, session, { id: attachment, size: 2, now: at, endsAt: 100 })
  await store.appendPiece(account, session, attachment, { attempt: 0, at: 0, bytes: Buffer.from([at]), now: at, endsAt: 100 })
}

const cellsOf: CellRef[] = [
  { of: 'session', id: session, name: 'metadata' },
  { of: 'session', id: session, name: 'agentState' },
  { of: 'machine', id: machine, name: 'metadata' },
  { of: 'machine', id: machine, name: 'daemonState' },
  { of: 'account', name: 'settings' }
]

/** Everything that changes what an account has; the last ones take it away. */
const acts: Record<string, (store: Store, account: AccountId, other: AccountId) => Promise<unknown>> = {
  'a message': (store, account) => store.appendMessages(account, session, [{ localId: localId('l'), sealed: sealed('new') }], 9),
  async 'every cell'(store, account) {
    for (const cell of cellsOf) {
      const version = cell.of === 'session' ? 0 : 1
      await store.writeCell(account, cell, version, sealed('new'), 9)
    }
  },
  'both parts of an artifact': (store, account) =>
    store.writeArtifact(
      account,
      artifact,
      { header: { expected: 1, value: sealed('new') }, body: { expected: 1, value: sealed('new') } },
      9
    ),
  'a receipt': (store, account) => store.markReceipts(account, session, { deliveredSeq: 1, readSeq: 1 }),
  'an access key': (store, account) => store.writeAccessKey(account, { session, machine }, 1, sealed('new'), 9),
  'a report': (store, account) =>
    store.putUsageReport(account, { id: '9', key: 'k', session, tokens: { total: 9 }, cost: { total: 9 }, now: 9 }),
  'a key': (store, account) => store.mutateKv(account, [{ key, value: sealed('new'), version: 0 }], 9),
  presence: (store, account) =>
    store.markActive([
      { account, row: { of: 'session', id: session }, active: false, at: 99 },
      { account, row: { of: 'machine', id: machine }, active: true, at: 99 }
    ]),
  'a piece of an attachment': (store, account) =>
    store.appendPiece(account, session, attachment, { attempt: 0, at: 1, bytes: Buffer.from([9]), now: 9, endsAt: 200 }),
  'a whole attachment': (store, account) =>
    store.completeUpload(account, session, attachment, { attempt: 0, received: 2, sha256: sha256('x'), now: 9 }),
  'a sign-in': (store, account) => store.signIn(signInAs(account.replace('account-', ''))),
  'the older way to sign in': (store, account) => store.setLegacyLogin(account, 'off'),
  async 'a device that renews its token'(store, account) {
    const token = () => tokenDraft('account', `renewed token of ${account}`, 'phone', keyed(account))
    const renewed = await store.renewToken({ account, deviceKey: theSameKey, nonceHash: sha256(account), token, now: 9 })
    if (renewed.result !== 'renewed' || renewed.device !== phoneOf(account)) throw new Error('Not its own device')
  },
  'a device renamed': (store, account) => store.renameDevice(account, phoneOf(account), 'new'),
  'a device of the other renamed': (store, account, other) => store.renameDevice(account, phoneOf(other), 'new'),
  'a token of the other revoked': (store, account, other) => store.revokeToken(account, namedTokenOf(other)),
  'a device of the other removed': (store, account, other) => store.removeDevice(account, phoneOf(other)),
  'a token revoked': (store, account) => store.revokeToken(account, namedTokenOf(account)),
  'a device removed': (store, account) => store.removeDevice(account, phoneOf(account)),
  'a push token taken off': (store, account) => store.removePushToken(account, 'phone'),
  async 'more push tokens than it may have'(store, account) {
    await store.addPushToken(account, { id: 'new', token: 'phone', now: 0 })
    await store.addPushToken(account, { id: 'newer', token: 'tablet', now: 1 }, { ...noQuotas, pushTokens: 1 })
  },
  async 'so many removals that the first are forgotten'(store, account) {
    const names = Array.from({ length: mostRemovalsKept + 2 }, (_, index) => v.parse(ids.artifactId, `a ${index}`))
    await Promise.all(names.map(id => store.openArtifact(account, { id, header: small, body: small, dataKey: small, now: 9 })))
    await Promise.all(names.map(id => store.remove(account, { of: 'artifact', id })))
  },
  'an artifact removed': (store, account) => store.remove(account, { of: 'artifact', id: artifact }),
  'a machine removed': (store, account) => store.remove(account, { of: 'machine', id: machine }),
  async 'a session removed, its attachment swept'(store, account) {
    await store.remove(account, { of: 'session', id: session })
    await store.sweepLeftovers(50)
  },
  async 'the whole account removed'(store, account, other) {
    const outcome = await store.removeAccount(account)
    // The owner stays.
    if (outcome !== 'owner' && (outcome === 'missing' || outcome.tokens.includes(phoneTokenOf(other))))
      throw new Error('Not its own tokens')
  }
}

async function everythingOf(store: Store, account: AccountId): Promise<unknown> {
  const { epoch } = await store.changesSince(account, { epoch: undefined, since: 0, began: undefined, limit: 100 })
  const known = { tag: 'tag', metadata: sealed('x'), agentState: null, dataKey: null, now: 1 }
  return {
    // Opening what is there changes nothing, and says the clock.
    session: await store.openSession(account, { id: session, ...known }),
    changes: await store.changesSince(account, { epoch, since: 1, began: undefined, limit: 100 }),
    machines: await store.listMachines(account),
    messages: await readAll(store, account, session),
    latest: await store.readMessages(account, session, { before: 100, limit: 10 }),
    artifact: await store.findArtifact(account, artifact),
    accessKey: await store.findAccessKey(account, { session, machine }),
    usage: await store.readUsage(account, { session, from: 0, to: 100, bucketMs: 1 }),
    kv: await store.readKv(account, [key]),
    settings: await store.readSettings(account),
    pushTokens: await store.listPushTokens(account),
    devices: await store.listDevices(account),
    tokens: await store.listTokens(account),
    deviceOf: await store.findDeviceOf(account, phoneTokenOf(account)),
    upload: await store.findUpload(account, session, attachment, 50),
    piece: await store.readPiece(account, session, attachment, 0),
    attachmentBytes: await store.readAttachmentBytes(account),
    createdAt: await store.accountCreatedAt(account),
    legacyLogin: await store.readLegacyLogin(account)
  }
}
