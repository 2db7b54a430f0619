import { artifactId, attachmentId, kvKey } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { noQuotas } from '../../../lib/store/quotas.ts'
import { safekeepingOf } from '../../../lib/store/safekeeping.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, found, machineId, newAccount, newMachine, newSession, openFor, type StorePlace, sealed } from './kit.ts'

const nothing = { sessions: 0, messages: 0, bytes: { messages: 0, attachments: 0, artifacts: 0, state: 0 } }
const artifact = { id: v.parse(artifactId, 'a'), header: sealed('ab'), body: sealed('cd'), dataKey: sealed('e'), now: 1 }

export function storageContract(t: Check, place: StorePlace): void {
  t.test('storage is counted as messages, bytes and state, and decreases with removals [I1]', async t => {
    const store = await openFor(t, place)
    const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    t.same(await store.readStorage(ann), nothing)

    const session = await newSession(store, ann, 'one')
    const file = { id: v.parse(attachmentId, '0199c3ae-5a6a-7b44-9a7e-3a4cf09eb1aa.enc'), size: 5, now: 1, endsAt: 100 }
    await store.openUpload(ann, session, file, noQuotas)
    await store.appendPiece(ann, session, file.id, { attempt: 0, at: 0, bytes: Buffer.from('123'), now: 1, endsAt: 100 }, noQuotas)
    await store.appendMessages(ann, session, [draft('12345'), draft('6')], 1)
    await store.openArtifact(ann, artifact)
    await newMachine(store, ann, machineId('laptop'))
    await store.mutateKv(ann, [{ key: v.parse(kvKey, 'k'), value: sealed('1234'), version: -1 }], 1)
    await store.writeCell(ann, { of: 'account', name: 'settings' }, 0, sealed('dark'), 1)
    const state = ['metadata of one', 'a laptop', 'idle', '1234', 'dark'].join('').length
    const all = { sessions: 1, messages: 2, bytes: { messages: 6, attachments: 3, artifacts: 4, state } }
    t.same(await store.readStorage(ann), all)
    t.same(await store.readStorage(bob), nothing, 'and of nobody else')
    const empty = await newSession(store, ann, 'two')
    t.same(
      new Map((await store.readSessionSizes(ann)).map(({ id, bytes }) => [id, bytes])),
      new Map([
        [session, 9],
        [empty, 0]
      ])
    )
    t.same(await store.readSessionSizes(bob), [])
    await store.remove(ann, { of: 'session', id: empty })

    await store.writeCell(ann, { of: 'session', id: session, name: 'agentState' }, 0, sealed('äö'), 1)
    t.match(await store.readStorage(ann), { bytes: { state: state + 4 } }, 'bytes and not letters')
    await store.remove(ann, { of: 'session', id: session })
    while ((await store.sweepLeftovers(1)) === 'more');
    t.match(await store.readStorage(ann), { sessions: 0, messages: 0, bytes: { messages: 0, attachments: 0, artifacts: 4 } })
  })

  t.test('numbers skipped by a restore do not count as messages [O6]', async t => {
    const store = await openFor(t, place)
    if (!store.safekeeping) return
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    await store.appendMessages(ann, session, [draft('one')], 1)
    await safekeepingOf(store).becomeRestored({ endedTokens: [], holdLoginsUntil: 0, now: Date.UTC(2026, 10) })
    await store.appendMessages(ann, session, [draft('two')], 2)
    t.ok(found(await store.findSession(ann, session)).lastSeq > 1_000_000)
    t.match(await store.readStorage(ann), { messages: 2, bytes: { messages: 6 } })
  })

  t.test('the storage of a removed account is missing', async t => {
    const store = await openFor(t, place)
    const [owner, ann] = [await newAccount(store, 'owner'), await newAccount(store, 'ann')]
    await store.removeAccount(ann)
    t.equal(await store.readStorage(ann), 'missing')
    t.same(await store.readStorage(owner), nothing)
  })
}
