import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { safekeepingOf } from '../../../lib/store/safekeeping.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, found, machineId, newAccount, newMachine, newSession, openFor, type StorePlace, sealed } from './kit.ts'

const now = Date.UTC(2026, 10, 22)
const hour = 3_600_000
const restored = { endedTokens: [], holdLoginsUntil: 0, now }
/** More than anything grows by between a backup and its restore. */
const farAbove = 1_000_000

/** Most clients know no epochs: what was given out after the backup must never mean something else. */
export function lifeContract(t: Check, place: StorePlace): void {
  t.test('after a restore no seq is assigned twice, even if the same backup is restored again [O6]', async t => {
    const open = async (): Promise<number[]> => {
      const store = await openFor(t, place)
      if (!store.safekeeping) return []
      const ann = await newAccount(store, 'ann')
      const session = await newSession(store, ann)
      await store.appendMessages(ann, session, [draft('one', 'a'), draft('two')], 1)
      await safekeepingOf(store).becomeRestored({ ...restored, now: now + lives.length * hour })
      t.match(await store.findSession(ann, session), { lastSeq: 2 }, 'nothing was said since')
      const again = found(await store.appendMessages(ann, session, [draft('one', 'a')], 2))
      t.same([again.messages.map(({ seq }) => seq), again.added], [[1], []], 'what is there already keeps its number [X1]')
      const both = [store.appendMessages(ann, session, [draft('three')], 3), store.appendMessages(ann, session, [draft('four')], 3)]
      const [three = 0, four = 0] = (await Promise.all(both)).flatMap(answer => found(answer).messages.map(({ seq }) => seq))
      t.ok(three > farAbove, String(three))
      t.equal(four, three + 1)
      t.match(await store.findSession(ann, session), { lastSeq: four })
      const { messages } = found(await store.readMessages(ann, session, { after: 0, limit: 10 }))
      t.same(
        messages.map(({ seq, sealed }) => [seq, sealed]),
        [
          [1, 'one'],
          [2, 'two'],
          [three, 'three'],
          [four, 'four']
        ]
      )
      t.same((await safekeepingOf(store).inspect()).flaws, [], 'and the numbers left out are no flaw')
      await store.remove(ann, { of: 'session', id: session })
      t.match(await store.listAccounts(), [{ messages: 0, bytes: 0 }])
      return [three, four]
    }
    const lives: number[][] = []
    lives.push(await open())
    lives.push(await open())
    const [first = [], second = []] = lives
    t.ok(Math.min(...second) > Math.max(...first) + 1000, `${first} and then ${second}`)
  })

  t.test('a session near the end of its numbers keeps half of the rest, however often it is restored', async t => {
    const store = await openFor(t, place)
    if (!store.safekeeping) return
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    for (let restores = 0; restores < 20; restores += 1) {
      await safekeepingOf(store).becomeRestored({ ...restored, now: Date.UTC(2095, 0) })
      found(await store.appendMessages(ann, session, [draft('still here')], 1))
    }
    t.same((await safekeepingOf(store).inspect()).flaws, [])
  })

  t.test('after a restore every version is above what a client may have written since [O6]', async t => {
    const store = await openFor(t, place)
    if (!store.safekeeping) return
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const machine = machineId('laptop')
    await newMachine(store, ann, machine)
    const key = v.parse(ids.kvKey, 'name')
    await store.mutateKv(ann, [{ key, value: sealed('x'), version: -1 }], 1)
    await store.writeCell(ann, { of: 'account', name: 'settings' }, 0, sealed('dark'), 1)
    await safekeepingOf(store).becomeRestored(restored)
    const row = found(await store.findSession(ann, session))
    const laptop = found(await store.findMachine(ann, machine))
    const { version: settings } = await store.readSettings(ann)
    const versions = [row.metadata.version, row.agentState.version, laptop.metadata.version, laptop.daemonState.version, settings]
    for (const version of versions) t.ok(version > farAbove, String(version))
    t.match(
      await store.writeCell(ann, { of: 'account', name: 'settings' }, 7, sealed('light'), 2),
      { current: { version: settings } },
      'refused, and told why'
    )
    t.match(await store.mutateKv(ann, [{ key, value: sealed('y'), version: 3 }], 2), { written: false })
  })
}
