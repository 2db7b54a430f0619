import type { AccountId, SessionId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { RemovableRef } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, machineId, newAccount, newMachine, newSession, openFor, type StorePlace, sealed, sessionId } from './kit.ts'

const artifact = v.parse(ids.artifactId, 'a')

export function removalContract(t: Check, place: StorePlace): void {
  t.test('a removed row is missing, no longer counted, and announced as one change', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const empty = await store.readStorage(ann)
    const session = await newSession(store, ann)
    const stays = await newSession(store, ann)
    const machine = machineId('m')
    await newMachine(store, ann, machine)
    for (const [id, texts] of [
      [session, ['one', 'two']],
      [stays, ['three']]
    ] as const)
      await store.appendMessages(
        ann,
        id,
        texts.map(text => draft(text)),
        1
      )
    const drafts = { header: sealed('header'), body: sealed('body'), dataKey: sealed('k'), now: 1 }
    await store.openArtifact(ann, { id: artifact, ...drafts })
    await store.openArtifact(ann, { id: v.parse(ids.artifactId, 'stays'), ...drafts })
    t.match(await store.readStorage(ann), { sessions: 2, messages: 3, bytes: { messages: 11, artifacts: 20 } })

    const removed: RemovableRef[] = [
      { of: 'session', id: session },
      { of: 'machine', id: machine },
      { of: 'artifact', id: artifact }
    ]
    let clock = (await store.readClocks([ann])).get(ann) ?? 0
    const { epoch } = await store.changesSince(ann, { epoch: undefined, since: 0, began: undefined, limit: 9 })
    const before = clock
    for (const row of removed) {
      clock += 1
      t.same(await store.remove(ann, row), { clock })
      t.equal(await store.remove(ann, row), 'missing')
    }
    t.match(await store.readStorage(ann), { sessions: 1, messages: 1, bytes: { messages: 5, artifacts: 10 } })
    const changes = await store.changesSince(ann, { epoch, since: before, began: undefined, limit: 9 })
    t.same('removed' in changes && changes.removed, removed)
    t.same((await store.readClocks([ann])).get(ann), clock)
    for (const row of [
      { of: 'session', id: stays },
      { of: 'artifact', id: v.parse(ids.artifactId, 'stays') }
    ] as const)
      await store.remove(ann, row)
    t.same(await store.readStorage(ann), empty)
  })

  t.test('sessions unused for long are removed, a few at a time, each as a change of its account', async t => {
    const store = await openFor(t, place)
    const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    const at = (account: AccountId, id: string, more: Partial<{ active: boolean; activeAt: number; updatedAt: number }>) =>
      sessionAt(store, account, sessionId(id), { active: false, activeAt: 99, updatedAt: 99, ...more })
    for (const account of [ann, bob]) {
      await at(account, 'old', {})
      await at(account, 'active', { active: true })
      await at(account, 'seen', { activeAt: 100 })
      await at(account, 'written', { updatedAt: 100 })
    }
    await at(ann, 'older', { activeAt: 2, updatedAt: 2 })
    t.same(await store.removeOldSessions(2, 9), [])
    const first = await store.removeOldSessions(100, 2)
    t.equal(first.length, 2)
    const all = [...first, ...(await store.removeOldSessions(100, 9))]
    t.same(all.map(({ account, session }) => `${account} ${session}`).toSorted(), [`${ann} old`, `${ann} older`, `${bob} old`].toSorted())
    const clocks = await store.readClocks([ann, bob])
    for (const account of [ann, bob])
      t.equal(Math.max(...all.filter(one => one.account === account).map(({ clock }) => clock)), clocks.get(account))
    for (const account of [ann, bob]) {
      t.same((await store.listSessions(account, 9)).map(({ id }) => String(id)).toSorted(), ['active', 'seen', 'written'])
      t.same(await store.readMessages(account, sessionId('old'), { after: 0, limit: 9 }), 'missing')
    }
    t.same(await store.removeOldSessions(100, 9), [])
  })
}

async function sessionAt(
  store: Store,
  account: AccountId,
  id: SessionId,
  { active, activeAt, updatedAt }: { active: boolean; activeAt: number; updatedAt: number }
): Promise<void> {
  await store.openSession(account, { id, tag: id, metadata: sealed('m'), agentState: null, dataKey: null, now: 1 })
  await store.appendMessages(account, id, [draft('hello')], updatedAt)
  for (const isActive of [true, active]) await store.markActive([{ account, row: { of: 'session', id }, active: isActive, at: activeAt }])
}
