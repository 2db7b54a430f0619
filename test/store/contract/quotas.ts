import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import { artifactId, attachmentId, kvKey } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { noQuotas, type Quotas } from '../../../lib/store/quotas.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import {
  deviceId,
  draft,
  found,
  machineId,
  newAccount,
  newMachine,
  newSession,
  openFor,
  type StorePlace,
  sealed,
  sessionId,
  signInAs,
  tokenDraft
} from './kit.ts'

const only = (quotas: Partial<Quotas>): Quotas => ({ ...noQuotas, ...quotas })
const over = (quota: keyof Quotas) => ({ name: 'OverQuota', quota })
const newDraft = (name: string) => ({
  id: sessionId(name),
  tag: name,
  metadata: sealed('m'),
  agentState: null,
  dataKey: null,
  now: 1
})

export function quotaContract(t: Check, place: StorePlace): void {
  t.test('messages fill an account up to its quota, over all its sessions, and a removed session makes room [Q2]', async t => {
    const { store, ann, bob } = await twoAccounts(t, place)
    const quotas = only({ messages: 3 })
    const [one, two] = [await newSession(store, ann), await newSession(store, ann)]
    await store.appendMessages(ann, one, [draft('a', 'a'), draft('b')], 1, quotas)
    await t.rejects(store.appendMessages(ann, two, [draft('c'), draft('d')], 1, quotas), over('messages'))
    t.same(found(await store.readMessages(ann, two, { after: 0, limit: 9 })).messages, [], 'nothing of a refused batch is kept')
    await store.appendMessages(ann, two, [draft('c')], 1, quotas)
    await t.rejects(store.appendMessages(ann, two, [draft('d')], 1, quotas), over('messages'))

    const repeated = found(await store.appendMessages(ann, one, [draft('a', 'a')], 1, quotas))
    t.same([repeated.added.length, repeated.messages.length], [0, 1], 'a repeat is answered from what is stored [X1]')
    const bobs = await newSession(store, bob)
    t.equal(found(await store.appendMessages(bob, bobs, [draft('x')], 1, quotas)).added.length, 1, 'others have their own')

    await store.remove(ann, { of: 'session', id: one })
    const after = found(await store.appendMessages(ann, two, [draft('d'), draft('e')], 1, quotas))
    t.equal(after.added.length, 2)
    await t.rejects(store.appendMessages(ann, two, [draft('f')], 1, quotas), over('messages'))
  })

  t.test('message bytes count too, and are returned when their session is removed [Q2]', async t => {
    const { store, ann } = await twoAccounts(t, place)
    const quotas = only({ bytes: 10 })
    const [one, two] = [await newSession(store, ann), await newSession(store, ann)]
    await store.appendMessages(ann, one, [draft('12345')], 1, quotas)
    await store.appendMessages(ann, two, [draft('1234')], 1, quotas)
    await t.rejects(store.appendMessages(ann, two, [draft('12')], 1, quotas), over('bytes'))
    await store.appendMessages(ann, two, [draft('1')], 1, quotas)
    t.match(await store.listAccounts(), [
      { id: ann, messages: 3, bytes: 10 },
      { messages: 0, bytes: 0 }
    ])
    await store.remove(ann, { of: 'session', id: two })
    t.match((await store.listAccounts())[0], { id: ann, messages: 1, bytes: 5 })
  })

  t.test('concurrent writers cannot exceed the quota [Q2]', async t => {
    const { store, ann } = await twoAccounts(t, place)
    const sessions = [await newSession(store, ann), await newSession(store, ann)] as const
    const writes = Array.from({ length: 20 }, (_, number) =>
      store.appendMessages(ann, sessions[number % 2 === 0 ? 0 : 1], [draft('x')], 1, only({ messages: 7 })).then(
        () => 'in',
        error => error.quota
      )
    )
    const outcomes = await Promise.all(writes)
    t.equal(outcomes.filter(outcome => outcome === 'in').length, 7)
    t.match((await store.listAccounts())[0], { id: ann, messages: 7, bytes: 7 })
  })

  t.test('sessions are limited, and an existing one is still found [Q2]', async t => {
    const { store, ann } = await twoAccounts(t, place)
    const quotas = only({ sessions: 2 })
    await store.openSession(ann, newDraft('one'), quotas)
    await store.openSession(ann, newDraft('two'), quotas)
    await t.rejects(store.openSession(ann, newDraft('three'), quotas), over('sessions'))
    t.equal((await store.openSession(ann, newDraft('one'), quotas)).created, false)
    await store.remove(ann, { of: 'session', id: sessionId('two') })
    t.equal((await store.openSession(ann, newDraft('three'), quotas)).created, true)
  })

  t.test('keys are limited in number and bytes, and an existing one may change [Q2]', async t => {
    const { store, ann } = await twoAccounts(t, place)
    const quotas = only({ kvKeys: 2, kvValueBytes: 3 })
    const change = (key: string, value: string, version = -1) => ({ key: v.parse(kvKey, key), value: sealed(value), version })
    await t.rejects(store.mutateKv(ann, [change('a', '1234')], 1, quotas), over('kvValueBytes'))
    await t.rejects(store.mutateKv(ann, [change('a', '1'), change('b', '1'), change('c', '1')], 1, quotas), over('kvKeys'))
    await store.mutateKv(ann, [change('a', '123'), change('b', '1')], 1, quotas)
    await t.rejects(store.mutateKv(ann, [change('c', '1')], 1, quotas), over('kvKeys'))
    t.match(await store.mutateKv(ann, [change('b', '2', 0)], 1, quotas), { written: true })
  })

  t.test(
    'state that is neither message nor file has its own quota, may shrink while above it, and is returned on removal [Q2]',
    async t => {
      const { store, ann, bob } = await twoAccounts(t, place)
      const [session, machine] = [await newSession(store, ann), machineId('laptop')]
      await newMachine(store, ann, machine)
      const held = async (account: AccountId) => found(await store.readStorage(account)).bytes.state
      const used = { tokens: { total: 1 }, cost: { total: 1 } }
      const notice = {
        ...{ id: 'n', kind: 'done' as const, session, title: 'x'.repeat(100), body: '', preview: null },
        ...{ now: 1, expiresAt: 9, deliveries: [] }
      }
      const large = sealed('x'.repeat(1_000))
      const writes: Record<string, (quotas: Quotas) => Promise<unknown>> = {
        session: quotas => store.openSession(ann, { ...newDraft('another'), metadata: large }, quotas),
        machine: quotas =>
          store.openMachine(ann, { ...newDraft('other'), id: machineId('other'), metadata: large, daemonState: null }, quotas),
        metadata: quotas => store.writeCell(ann, { of: 'session', id: session, name: 'metadata' }, 0, large, 1, quotas),
        'agent state': quotas => store.writeCell(ann, { of: 'session', id: session, name: 'agentState' }, 0, large, 1, quotas),
        'daemon state': quotas => store.writeCell(ann, { of: 'machine', id: machine, name: 'daemonState' }, 1, large, 1, quotas),
        settings: quotas => store.writeCell(ann, { of: 'account', name: 'settings' }, 0, large, 1, quotas),
        value: quotas => store.mutateKv(ann, [{ key: v.parse(kvKey, 'k'), value: large, version: -1 }], 1, quotas),
        'access key': quotas => store.addAccessKey(ann, { session, machine }, sealed('x'), 1, quotas),
        'larger access key': quotas => store.writeAccessKey(ann, { session, machine }, 1, large, 1, quotas),
        'usage report': quotas => store.putUsageReport(ann, { id: 'u', key: 'x'.repeat(100), session, ...used, now: 1 }, quotas),
        notice: quotas => store.addNotice(ann, notice, quotas),
        'settled notice': quotas => store.settleNotices(ann, { session, id: 'unknown', clears: [], now: 1 }, quotas),
        'named token': quotas => store.addToken(ann, tokenDraft('named', 'a named token', 'backup'), quotas)
      }
      for (const [name, write] of Object.entries(writes)) {
        const before = await held(ann)
        await t.rejects(write(only({ stateBytes: before + 90 })), over('stateBytes'), name)
        t.equal(await held(ann), before, `nothing of a refused ${name} is kept`)
        await write(only({ stateBytes: before + 3_000 }))
        t.ok((await held(ann)) > before, `${name} counts`)
      }
      const full = only({ stateBytes: 1 })
      t.match(
        await store.writeCell(ann, { of: 'account', name: 'settings' }, 1, sealed('dark'), 2, full),
        { written: true },
        'less is taken'
      )
      await store.settleNotices(ann, { session, id: 'n', clears: [], now: 2 }, full)
      t.equal(await held(bob), 0, 'others have their own')

      for (const id of [session, sessionId('another')]) await store.remove(ann, { of: 'session', id })
      for (const id of [machine, machineId('other')]) await store.remove(ann, { of: 'machine', id })
      await store.mutateKv(ann, [{ key: v.parse(kvKey, 'k'), value: null, version: 0 }], 3)
      await store.writeCell(ann, { of: 'account', name: 'settings' }, 2, null, 3)
      for (const { id } of await store.listTokens(ann)) await store.revokeToken(ann, id)
      while ((await store.sweepLeftovers(1)) === 'more');
      t.equal(await held(ann), 0)
    }
  )

  t.test('usage reports are limited, and an existing one may change [Q2]', async t => {
    const { store, ann, bob } = await twoAccounts(t, place)
    const quotas = only({ usageReports: 2 })
    const report = (account: AccountId, key: string) =>
      store.putUsageReport(account, { id: key, key, session: null, tokens: { total: 1 }, cost: { total: 1 }, now: 1 }, quotas)
    await report(ann, 'one')
    await report(ann, 'two')
    await t.rejects(report(ann, 'three'), over('usageReports'))
    t.match(await report(ann, 'two'), { id: 'two' })
    t.match(await report(bob, 'three'), { id: 'three' }, 'others have their own')
  })

  t.test('attachments, complete or not, and artifacts count with message bytes, and are returned on removal [I3, Q2]', async t => {
    const { store, ann, bob } = await twoAccounts(t, place)
    const quotas = only({ bytes: 10 })
    const session = await newSession(store, ann)
    const file = (name: string, size: number) => ({
      id: v.parse(attachmentId, `0199c3ae-5a6a-7b44-9a7e-3a4cf09eb1a${name}.enc`),
      size,
      now: 1,
      endsAt: 100
    })
    const piece = (at: number, bytes: string) => ({ attempt: 0, at, bytes: Buffer.from(bytes), now: 1, endsAt: 100 })
    const held = async () => (await store.listAccounts()).find(({ id }) => id === ann)?.bytes
    await store.appendMessages(ann, session, [draft('123')], 1, quotas)

    await t.rejects(store.openUpload(ann, session, file('a', 8), quotas), over('bytes'))
    t.equal(await store.findUpload(ann, session, file('a', 8).id, 1), 'missing', 'a refused upload has no place')
    for (const name of ['a', 'b']) t.equal(await store.openUpload(ann, session, file(name, 5), quotas), 'opened')
    t.match(await store.appendPiece(ann, session, file('a', 5).id, piece(0, '12345'), quotas), { taken: true })
    await t.rejects(store.appendPiece(ann, session, file('b', 5).id, piece(0, '123'), quotas), over('bytes'))
    t.match(await store.findUpload(ann, session, file('b', 5).id, 1), { received: 0 })
    await t.rejects(store.appendMessages(ann, session, [draft('123')], 1, quotas), over('bytes'))

    const artifact = {
      id: v.parse(artifactId, '0199c3ae-5a6a-7b44-9a7e-3a4cf09eb1a2'),
      header: sealed('h'),
      body: sealed('b'),
      dataKey: sealed('k'),
      now: 1
    }
    await t.rejects(store.openArtifact(ann, { ...artifact, body: sealed('bb') }, quotas), over('bytes'))
    t.match(await store.openArtifact(ann, artifact, quotas), { created: true })
    t.equal(await held(), 10)
    await t.rejects(store.writeArtifact(ann, artifact.id, { body: { expected: 1, value: sealed('bb') } }, 2, quotas), over('bytes'))
    t.match(await store.writeArtifact(ann, artifact.id, { body: { expected: 1, value: sealed('c') } }, 2, quotas), { written: true })
    t.match(await store.openArtifact(bob, artifact, quotas), { created: true }, 'others have their own')
    t.equal(await held(), 10)

    await store.remove(ann, { of: 'artifact', id: artifact.id })
    t.equal(await held(), 8)
    await store.remove(ann, { of: 'session', id: session })
    while ((await store.sweepLeftovers(1)) === 'more');
    t.equal(await held(), 0)
  })

  t.test('machines and artifacts are limited, and an existing one is still found [I3, Q2]', async t => {
    const { store, ann, bob } = await twoAccounts(t, place)
    const quotas = only({ machines: 1, artifacts: 1 })
    const machine = (id: string) => ({ id: machineId(id), metadata: sealed('m'), daemonState: null, dataKey: null, now: 1 })
    const artifact = (end: string) => ({
      id: v.parse(artifactId, `0199c3ae-5a6a-7b44-9a7e-3a4cf09eb1a${end}`),
      header: sealed('h'),
      body: sealed('b'),
      dataKey: sealed('k'),
      now: 1
    })
    await store.openMachine(ann, machine('one'), quotas)
    await t.rejects(store.openMachine(ann, machine('two'), quotas), over('machines'))
    t.match(await store.openMachine(ann, machine('one'), quotas), { created: false })
    t.match(await store.openMachine(bob, machine('two'), quotas), { created: true })
    await store.openArtifact(ann, artifact('1'), quotas)
    await t.rejects(store.openArtifact(ann, artifact('2'), quotas), over('artifacts'))
    t.match(await store.openArtifact(ann, artifact('1'), quotas), { created: false })
    t.match(await store.openArtifact(bob, artifact('2'), quotas), { created: true })
  })

  t.test('the least recently used device makes room for a new one, and its sign-ins end [I1, I3, Q2]', async t => {
    const { store, ann, bob } = await twoAccounts(t, place)
    const signIn = async (name: string, device: string, now: number) => {
      const token = tokenDraft('account', `token of ${device}`, device, {
        device: { id: deviceId(device), publicKey: null, most: 3 },
        createdAt: now
      })
      t.match(await store.signIn(signInAs(name, { token: () => token })), { result: 'signed-in' })
      return token
    }
    const idsOf = async (account: AccountId) => (await store.listDevices(account)).map(({ id }) => id)
    // The account was made with a device of its own, the oldest.
    const phone = await signIn('ann', 'phone', 10)
    const laptop = await signIn('ann', 'laptop', 20)
    await store.markTokensUsed([{ token: phone.id, at: 30, from: '10.0.0' }])
    await signIn('ann', 'tablet', 40)
    t.same(await idsOf(ann), ['tablet', 'phone', 'laptop'])
    for (const device of ['bike', 'boat', 'bus']) await signIn('bob', device, 99)
    // Its clock is behind: what just came is never what goes.
    await signIn('ann', 'watch', 5)
    t.same(await idsOf(ann), ['tablet', 'phone', 'watch'])
    t.equal(await store.findBearer(laptop.hash), 'missing')
    t.ok((await store.recentRevocations()).includes(laptop.id), 'every instance hears of it')
    t.match(await store.findBearer(phone.hash), { account: ann })
    t.same(await idsOf(bob), ['bus', 'boat', 'bike'], 'what another account has counts for itself')
  })

  t.test('the oldest notices of an account make room for new ones, with what became of them [Q2]', async t => {
    const { store, ann, bob } = await twoAccounts(t, place)
    const quotas = only({ notices: 2 })
    const session = await newSession(store, ann)
    const notify = (account: AccountId, id: string) =>
      store.addNotice(
        account,
        {
          ...{ id, kind: 'done', session, title: '', body: '', preview: null, now: 1, expiresAt: 1000 },
          deliveries: [
            {
              ...{ channel: 'phone', channelKind: 'ntfy', receipt: `${account} ${id}`, dueAt: 1 },
              ...{ isSilent: false, isCollected: false, unlessWatched: false }
            }
          ]
        },
        quotas
      )
    for (const [account, id] of [
      [bob, 'a'],
      [ann, 'a'],
      [ann, 'b'],
      [ann, 'b'],
      [ann, 'c']
    ] as const)
      await notify(account, id)
    const kept = async (account: AccountId) => {
      const counts = await Promise.all(['a', 'b', 'c', 'd'].map(async id => (await store.findDeliveries(account, id)).length))
      return counts.join('')
    }
    t.same([await kept(ann), await kept(bob)], ['0110', '1000'])
    t.equal((await store.listDeliveries(ann, 0, 9)).length, 2)
    await store.settleNotices(ann, { session, id: 'd', clears: [], now: 2 }, quotas)
    t.equal(await kept(ann), '0010', 'one that is only remembered as settled counts too')
    t.equal(await notify(ann, 'd'), 'known')
  })

  t.test('the push token registered longest ago makes room for a new one [Q2]', async t => {
    const { store, ann, bob } = await twoAccounts(t, place)
    const quotas = only({ pushTokens: 2 })
    const add = (account: AccountId, token: string, now: number) =>
      store.addPushToken(account, { id: `${account} ${token}`, token, now }, quotas)
    await add(bob, 'old', 1)
    for (const [token, now] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4]
    ] as const)
      await add(ann, token, now)
    t.same((await store.listPushTokens(ann)).map(({ token }) => token).toSorted(), ['a', 'c'])
    t.equal((await store.listPushTokens(bob)).length, 1)
  })
}

async function twoAccounts(t: Check, place: StorePlace): Promise<{ store: Store; ann: AccountId; bob: AccountId }> {
  const store = await openFor(t, place)
  return { store, ann: await newAccount(store, 'ann'), bob: await newAccount(store, 'bob') }
}
