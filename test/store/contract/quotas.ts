import type { Test } from 'tap'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import { kvKey } from '../../../lib/protocol/wire/ids.ts'
import { noQuotas, type Quotas } from '../../../lib/store/quotas.ts'
import type { Store } from '../../../lib/store/store.ts'
import { draft, found, newAccount, newSession, openFor, type StorePlace, sealed, sessionId } from './kit.ts'

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

export function quotaContract(t: Test, place: StorePlace): void {
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

  t.test('bytes of messages count too, and come back with their session [Q2]', async t => {
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
    t.match(await store.listAccounts(), [{ id: ann, messages: 1, bytes: 5 }])
  })

  t.test('many who write at once get no more in than fits [Q2]', async t => {
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
    t.match(await store.listAccounts(), [{ messages: 7, bytes: 7 }])
  })

  t.test('so many sessions, and one that is there already is found all the same [Q2]', async t => {
    const { store, ann } = await twoAccounts(t, place)
    const quotas = only({ sessions: 2 })
    await store.openSession(ann, newDraft('one'), quotas)
    await store.openSession(ann, newDraft('two'), quotas)
    await t.rejects(store.openSession(ann, newDraft('three'), quotas), over('sessions'))
    t.equal((await store.openSession(ann, newDraft('one'), quotas)).created, false)
    await store.remove(ann, { of: 'session', id: sessionId('two') })
    t.equal((await store.openSession(ann, newDraft('three'), quotas)).created, true)
  })

  t.test('so many keys of so many bytes, and a key that is there may change [Q2]', async t => {
    const { store, ann } = await twoAccounts(t, place)
    const quotas = only({ kvKeys: 2, kvValueBytes: 3 })
    const change = (key: string, value: string, version = -1) => ({ key: kvKey.parse(key), value: sealed(value), version })
    await t.rejects(store.mutateKv(ann, [change('a', '1234')], 1, quotas), over('kvValueBytes'))
    await t.rejects(store.mutateKv(ann, [change('a', '1'), change('b', '1'), change('c', '1')], 1, quotas), over('kvKeys'))
    await store.mutateKv(ann, [change('a', '123'), change('b', '1')], 1, quotas)
    await t.rejects(store.mutateKv(ann, [change('c', '1')], 1, quotas), over('kvKeys'))
    t.match(await store.mutateKv(ann, [change('b', '2', 0)], 1, quotas), { written: true })
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

async function twoAccounts(t: Test, place: StorePlace): Promise<{ store: Store; ann: AccountId; bob: AccountId }> {
  const store = await openFor(t, place)
  return { store, ann: await newAccount(store, 'ann'), bob: await newAccount(store, 'bob') }
}
