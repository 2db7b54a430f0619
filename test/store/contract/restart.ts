import type { Check } from '../../contracts/check.ts'
import {
  draft,
  machineId,
  newAccount,
  newMachine,
  newSession,
  readAll,
  type StorePlace,
  sealed,
  sha256,
  signInAs,
  tokenDraft
} from './kit.ts'

export function restartContract(t: Check, place: StorePlace): void {
  t.test('a reopened store continues its clock and numbers', async t => {
    const open = place(t)
    const store = await open()
    const ann = await newAccount(store, 'ann')
    await store.signIn(signInAs('ann', { token: () => tokenDraft('account', 'kept') }))
    const session = await newSession(store, ann, 'tag')
    await newMachine(store, ann, machineId('laptop'))
    await store.appendMessages(ann, session, [draft('one', 'a'), draft('two', 'b')], 5)
    await store.writeCell(ann, { of: 'account', name: 'settings' }, 0, sealed('dark'), 6)
    await store.addPushToken(ann, { id: 'p', token: 'expo', now: 7 })
    const all = async (from: typeof store) => [
      await from.findSession(ann, session),
      await from.findMachine(ann, machineId('laptop')),
      await readAll(from, ann, session),
      await from.readSettings(ann),
      await from.listPushTokens(ann),
      await from.findBearer(sha256('kept'))
    ]
    const before = await all(store)
    await store.close()

    const again = await open()
    t.teardown(() => again.close())
    t.same(await all(again), before)
    const next = await again.appendMessages(ann, session, [draft('two', 'b'), draft('three', 'c')], 8)
    t.match(next, { messages: [{ seq: 2 }, { seq: 3 }], added: [{ seq: 3 }], clock: 7 })
  })

  t.test('closing stores what was requested before and rejects what is requested after', async t => {
    const open = place(t)
    const store = await open()
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const last = store.appendMessages(ann, session, [draft('last')], 1)
    await store.close()
    t.match(await last, { added: [{ seq: 1 }] })
    await t.rejects(store.hasAccounts(), { message: 'The store is closed.' })
    await t.rejects(store.appendMessages(ann, session, [draft('late')], 1), { message: 'The store is closed.' })

    const again = await open()
    t.teardown(() => again.close())
    t.equal((await readAll(again, ann, session)).length, 1)
  })
}
