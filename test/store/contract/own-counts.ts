import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { mostRemovalsKept } from '../../../lib/store/changes.ts'
import { noQuotas } from '../../../lib/store/quotas.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, newAccount, newSession, openFor, type StorePlace, sealed, sessionId } from './kit.ts'

const small = sealed('x')
const key = (name: string) => v.parse(ids.kvKey, name)
const written = (name: string) => [{ key: key(name), value: small, version: -1 }]

/** What is counted for one account is not counted for another. */
export function ownCountContract(t: Check, place: StorePlace): void {
  t.test('usage is counted per account [I1]', async t => {
    const store = await openFor(t, place)
    const [first, second] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    for (const name of ['one', 'two', 'three']) {
      await newSession(store, first, name)
      await store.mutateKv(first, written(name), 1)
    }
    const session = { id: sessionId('s'), tag: 'tag', metadata: small, agentState: null, dataKey: null, now: 1 }
    t.match(await store.openSession(second, session, { ...noQuotas, sessions: 1 }), { created: true })
    t.match(await store.mutateKv(second, written('one'), 1, { ...noQuotas, kvKeys: 1 }), { written: true })
  })

  t.test('a removed session returns its own storage, and not that of one with the same name [I1]', async t => {
    const store = await openFor(t, place)
    const accounts = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    const session = { id: sessionId('s'), tag: 'tag', metadata: small, agentState: null, dataKey: null, now: 1 }
    for (const [index, account] of accounts.entries()) {
      await store.openSession(account, session)
      for (let count = 0; count <= 2 * index; count += 1) await store.appendMessages(account, session.id, [draft('x')], 1)
    }
    for (const account of accounts) await store.remove(account, { of: 'session', id: session.id })
    for (const { messages, bytes } of await store.listAccounts()) t.same([messages, bytes], [0, 0])
  })

  t.test('a removed artifact returns its own storage, and not that of one with the same name [I1]', async t => {
    const store = await openFor(t, place)
    const accounts = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    const id = v.parse(ids.artifactId, 'a')
    for (const [index, account] of accounts.entries())
      await store.openArtifact(account, { id, header: small, body: sealed('x'.repeat(9 ** index)), dataKey: small, now: 1 })
    for (const account of accounts) await store.remove(account, { of: 'artifact', id })
    for (const { bytes } of await store.listAccounts()) t.equal(bytes, 0)
  })

  t.test('remembered removals are counted for the account alone [I1]', async t => {
    const store = await openFor(t, place)
    const [first, second] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    await removeArtifacts(store, first, mostRemovalsKept + 2)
    await removeArtifacts(store, second, 1)
    const { epoch } = await store.changesSince(second, { epoch: undefined, since: 0, began: undefined, limit: 10 })
    t.match(await store.changesSince(second, { epoch, since: 1, began: undefined, limit: 10 }), { complete: true })
  })
}

async function removeArtifacts(store: Store, account: AccountId, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => v.parse(ids.artifactId, `a ${index}`))
  await Promise.all(names.map(id => store.openArtifact(account, { id, header: small, body: small, dataKey: small, now: 9 })))
  await Promise.all(names.map(id => store.remove(account, { of: 'artifact', id })))
}
