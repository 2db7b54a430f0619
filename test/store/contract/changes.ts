import fc from 'fast-check'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { type Changes, mostRemovalsKept } from '../../../lib/store/changes.ts'
import { safekeepingOf } from '../../../lib/store/safekeeping.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, found, machineId, newAccount, newMachine, newSession, openFor, type StorePlace, sealed, sessionId } from './kit.ts'
import { everythingOf, Replica, read, step } from './replica.ts'

const kvKey = (text: string) => v.parse(ids.kvKey, text)

export function changeContract(t: Check, place: StorePlace): void {
  t.test('a reader who repeats its request, with pages of any size, ends with every row as it is [S1]', async t => {
    const store = await openFor(t, place)
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(step, read), { maxLength: 40 }), async steps => {
        const account = await newAccount(store, `replica ${round++}`)
        const replica = new Replica(store, account)
        for (const run of steps) await run(store, account, replica)
        await replica.read(3)
        same(replica.rows(), await everythingOf(store, account))
      }),
      { numRuns: 40 }
    )
  })

  t.test('each change is returned, and nothing when nothing changed', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const { epoch, clock } = complete(await store.changesSince(ann, fromNothing))
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since: clock }), { complete: true, clock, sessions: [], more: false })

    await store.appendMessages(ann, session, [draft('one'), draft('two')], 7)
    const after = complete(await store.changesSince(ann, { ...fromNothing, epoch, since: clock }))
    t.match(after, { clock: clock + 2, sessions: [{ id: session, lastSeq: 2, updatedAt: 7 }], machines: [], removed: [] })
    await store.appendMessages(ann, session, [], 8)
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since: after.clock }), { clock: after.clock, sessions: [] })
  })

  t.test('the clocks of many accounts are read at once: each its own, and none of a missing one [I1] [M2]', async t => {
    const store = await openFor(t, place)
    const [ann, bob, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'bob'), await newAccount(store, 'eve')]
    const session = await newSession(store, ann)
    await newMachine(store, bob, machineId('laptop'))
    t.same(await store.readClocks([]), new Map())
    const strange = v.parse(ids.accountId, "nobody',{")
    const many = Array.from({ length: 2_000 }, (_, at) => v.parse(ids.accountId, `nobody ${at}`))
    const asked = [bob, strange, ...many, ann, eve, ann]
    t.same(
      [...(await store.readClocks(asked))].toSorted(byAccount),
      [[ann, 1] as const, [bob, 2] as const, [eve, 0] as const].toSorted(byAccount)
    )
    await store.appendMessages(ann, session, [draft('one'), draft('two')], 7)
    t.same(await store.readClocks([ann]), new Map([[ann, 3]]))
    await store.removeAccount(bob)
    t.same(await store.readClocks([ann, bob]), new Map([[ann, 3]]), 'nor of one that was removed')
  })

  // Else an instance would ask for what is missing, find nothing, and take the clock for heard.
  t.test('a clock counts nothing that cannot be read yet [M2] [D3]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const before = (await store.readClocks([ann])).get(ann) ?? 0
    for (let round = 1; round <= 10; round += 1) {
      const appending = store.appendMessages(ann, session, [draft(`one ${round}`), draft(`two ${round}`)], 7)
      let clock = 0
      while (clock < before + 2 * round) {
        clock = (await store.readClocks([ann])).get(ann) ?? 0
        const { messages } = found(await store.readMessages(ann, session, { after: 0, limit: 500 }))
        t.ok(messages.length >= clock - before)
        await new Promise(setImmediate)
      }
      await appending
    }
  })

  // Instances count what they are told, to know whether they were told everything.
  t.test('every kind of change moves the clock by the number of its updates, and nothing else does [M2]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const clock = async () => (await store.readClocks([ann])).get(ann) ?? 0
    const session = sessionId('s')
    const machine = machineId('m')
    const artifact = v.parse(ids.artifactId, 'a')
    const named = { tag: 'tag', metadata: sealed('x'), agentState: null, dataKey: null, now: 1 }
    const machineDraft = { id: machine, metadata: sealed('x'), daemonState: sealed('y'), dataKey: null, now: 1 }
    const artifactDraft = { id: artifact, header: sealed('x'), body: sealed('y'), dataKey: sealed('z'), now: 1 }
    const again = draft('again')
    const changes: [what: string, moves: number, run: () => Promise<unknown>][] = [
      ['a session', 1, () => store.openSession(ann, { id: session, ...named })],
      ['the same session', 0, () => store.openSession(ann, { id: session, ...named })],
      ['messages', 3, () => store.appendMessages(ann, session, [again, draft('two'), draft('three')], 1)],
      ['messages of which one is new', 1, () => store.appendMessages(ann, session, [again, draft('four')], 1)],
      ['receipts', 1, () => store.markReceipts(ann, session, { deliveredSeq: 2, readSeq: 1 })],
      ['the same receipts', 0, () => store.markReceipts(ann, session, { deliveredSeq: 2, readSeq: 1 })],
      ['a cell of a session', 1, () => store.writeCell(ann, { of: 'session', id: session, name: 'agentState' }, 0, sealed('x'), 1)],
      ['a conflict', 0, () => store.writeCell(ann, { of: 'session', id: session, name: 'agentState' }, 0, sealed('x'), 1)],
      ['settings', 1, () => store.writeCell(ann, { of: 'account', name: 'settings' }, 0, sealed('x'), 1)],
      ['a machine', 2, () => store.openMachine(ann, machineDraft)],
      ['a cell of a machine', 1, () => store.writeCell(ann, { of: 'machine', id: machine, name: 'metadata' }, 1, sealed('x'), 1)],
      ['an artifact', 1, () => store.openArtifact(ann, artifactDraft)],
      ['both parts of it', 1, () => store.writeArtifact(ann, artifact, bothParts, 1)],
      [
        'two keys',
        1,
        () =>
          store.mutateKv(
            ann,
            ['a', 'b'].map(name => ({ key: kvKey(name), value: sealed('x'), version: -1 })),
            1
          )
      ],
      ['presence', 0, () => store.markActive([{ account: ann, row: { of: 'session', id: session }, active: true, at: 2 }])],
      ['a session removed', 1, () => store.remove(ann, { of: 'session', id: session })],
      ['a machine removed', 1, () => store.remove(ann, { of: 'machine', id: machine })],
      ['an artifact removed', 1, () => store.remove(ann, { of: 'artifact', id: artifact })],
      ['what is not there', 0, () => store.remove(ann, { of: 'artifact', id: artifact })],
      [
        'leftovers',
        0,
        async () => {
          while ((await store.sweepLeftovers(1)) === 'more');
        }
      ]
    ]
    for (const [what, moves, run] of changes) {
      const before = await clock()
      await run()
      t.equal((await clock()) - before, moves, what)
    }
  })

  t.test('appends of one turn each put their session at its own clock', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const [one, two] = [await newSession(store, ann), await newSession(store, ann)]
    const { epoch, clock } = complete(await store.changesSince(ann, fromNothing))
    await Promise.all([one, two, one].map(session => store.appendMessages(ann, session, [draft('hello')], 1)))
    const first = complete(await store.changesSince(ann, { ...fromNothing, epoch, since: clock, limit: 1 }))
    t.match(first, { clock: clock + 2, more: true, sessions: [{ id: two }] })
    const second = complete(await store.changesSince(ann, { ...fromNothing, epoch, since: first.clock, limit: 1 }))
    t.match(second, { clock: clock + 3, more: false, sessions: [{ id: one, lastSeq: 2 }] })
  })

  t.test('an incomplete answer is marked: another epoch, none, or a clock the account never had [O6]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await newSession(store, ann)
    const { epoch } = complete(await store.changesSince(ann, fromNothing))
    const startOver = { complete: false, epoch, clock: 1 }
    t.same(await store.changesSince(ann, { ...fromNothing, epoch: 'another', since: 1 }), startOver)
    t.same(await store.changesSince(ann, { ...fromNothing, since: 1 }), startOver)
    t.same(await store.changesSince(ann, { ...fromNothing, epoch, since: 2 }), startOver)
    t.same(await store.changesSince(ann, { ...fromNothing, epoch, since: 1, began: 2 }), startOver)
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since: 1 }), { complete: true })

    if (!store.safekeeping) return
    await safekeepingOf(store).becomeRestored({ endedTokens: [], holdLoginsUntil: 0, now: 0 })
    const { epoch: renewed } = complete(await store.changesSince(ann, fromNothing))
    t.not(renewed, epoch)
    t.same(await store.changesSince(ann, { ...fromNothing, epoch, since: 1 }), { complete: false, epoch: renewed, clock: 1 })
    t.match(await store.changesSince(ann, { ...fromNothing, epoch: renewed, since: 1 }), { complete: true, epoch: renewed })
  })

  t.test('a removed account has no changes, and a client that had some is told to start over', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await newSession(store, ann)
    const { epoch, clock } = complete(await store.changesSince(ann, fromNothing))
    await store.removeAccount(ann)
    t.match(await store.changesSince(ann, fromNothing), {
      complete: true,
      epoch,
      clock: 0,
      began: 0,
      more: false,
      sessions: [],
      removed: []
    })
    t.same(await store.changesSince(ann, { ...fromNothing, epoch, since: clock }), { complete: false, epoch, clock: 0 })
  })

  t.test('the epoch survives a restart', async t => {
    const open = place(t)
    const store = await open()
    const ann = await newAccount(store, 'ann')
    const { epoch } = complete(await store.changesSince(ann, fromNothing))
    await store.close()
    const again = await open()
    t.teardown(() => again.close())
    t.equal(complete(await again.changesSince(ann, fromNothing)).epoch, epoch)
  })

  t.test('pruned removals make a reader start over, and a reader that starts over finishes', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const sessions = await Promise.all(['a', 'b', 'c'].map(name => newSession(store, ann, name)))
    const { epoch, clock } = complete(await store.changesSince(ann, fromNothing))
    await Promise.all(Array.from({ length: mostRemovalsKept }, () => comeAndGo(store, ann, machineId('m'))))
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since: clock }), { complete: true })
    const [gone = sessionId('none')] = sessions
    await store.remove(ann, { of: 'session', id: gone })
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since: clock }), { complete: false })
    // The first of those removals, which is forgotten, was of the machine: three updates later.
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since: clock + 3 }), { complete: true })

    const replica = new Replica(store, ann)
    await replica.read(1)
    t.equal(replica.startedOver, 0)
    same(replica.rows(), await everythingOf(store, ann))
  })

  t.test('a row removed between two pages of a first read is reported', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const first = await newSession(store, ann)
    await newSession(store, ann)
    const { epoch, clock: since, began, sessions } = complete(await store.changesSince(ann, { ...fromNothing, limit: 1 }))
    t.match(sessions, [{ id: first }])
    await store.remove(ann, { of: 'session', id: first })
    t.match(await store.changesSince(ann, { epoch, since, began, limit: 10 }), { removed: [{ of: 'session', id: first }], more: false })
  })

  t.test('a machine recreated under its id is reported as removed and as present', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await newMachine(store, ann, machineId('laptop'))
    const { epoch, clock: since } = complete(await store.changesSince(ann, fromNothing))
    await store.remove(ann, { of: 'machine', id: machineId('laptop') })
    await newMachine(store, ann, machineId('laptop'))
    const again = { removed: [{ of: 'machine', id: 'laptop' }], machines: [{ id: 'laptop', metadata: { version: 1 } }] }
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since }), again)
  })

  t.test('keys written together are returned on one page, however small', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const write = (names: string[]) =>
      store.mutateKv(
        ann,
        names.map(name => ({ key: kvKey(name), value: sealed('x'), version: -1 })),
        1
      )
    await write(['first'])
    await write(['a', 'b', 'c', 'd'])
    await write(['last'])
    const replica = new Replica(store, ann)
    await replica.read(2)
    t.same(replica.pages, [['first', 'a', 'b', 'c', 'd'].toSorted(), ['last']])
  })

  t.test('a page ends when it is large', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const large = sealed('x'.repeat(3 * 1024 * 1024))
    for (const key of ['a', 'b', 'c', 'd']) await store.mutateKv(ann, [{ key: kvKey(key), value: large, version: -1 }], 1)
    const replica = new Replica(store, ann)
    await replica.read(100)
    t.same(replica.pages, [
      ['a', 'b'],
      ['c', 'd']
    ])
  })

  t.test('the last page includes who is active, since presence does not advance the clock', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    await newMachine(store, ann, machineId('laptop'))
    await store.markActive([{ account: ann, row: { of: 'machine', id: machineId('laptop') }, active: true, at: 50 }])
    const { epoch, clock: since, active } = complete(await store.changesSince(ann, fromNothing))
    t.same(active, { sessions: [{ id: session, activeAt: 1 }], machines: [{ id: 'laptop', activeAt: 50 }] })
    await store.markActive([{ account: ann, row: { of: 'session', id: session }, active: false, at: 60 }])
    const later = complete(await store.changesSince(ann, { ...fromNothing, epoch, since }))
    t.match(later, { clock: since, sessions: [] })
    t.same(later.active, { sessions: [], machines: [{ id: 'laptop', activeAt: 50 }] })
    t.equal(complete(await store.changesSince(ann, { ...fromNothing, limit: 1 })).active, undefined, 'not on a page before the last')
  })

  t.test('receipts only rise, never past the messages, and a read message counts as delivered', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    await store.appendMessages(ann, session, [draft('1'), draft('2'), draft('3'), draft('4')], 1)
    const mark = (upTo: { deliveredSeq?: number; readSeq?: number }) => store.markReceipts(ann, session, upTo)
    t.same(await mark({ deliveredSeq: 2 }), { deliveredSeq: 2, readSeq: 0, moved: true, clock: 6 })
    t.same(await mark({ deliveredSeq: 1 }), { deliveredSeq: 2, readSeq: 0, moved: false, clock: 6 })
    t.same(await mark({ readSeq: 3 }), { deliveredSeq: 3, readSeq: 3, moved: true, clock: 7 })
    t.same(await mark({ deliveredSeq: 99, readSeq: 1 }), { deliveredSeq: 4, readSeq: 3, moved: true, clock: 8 })
    t.same(await mark({}), { deliveredSeq: 4, readSeq: 3, moved: false, clock: 8 })
    t.match(found(await store.findSession(ann, session)), { deliveredSeq: 4, readSeq: 3, updatedAt: 1 })
    const { epoch } = complete(await store.changesSince(ann, fromNothing))
    t.match(await store.changesSince(ann, { ...fromNothing, epoch, since: 7 }), { sessions: [{ id: session, deliveredSeq: 4 }] })
  })

  t.test('changes and receipts belong to the account alone [I1]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    const session = await newSession(store, ann)
    await store.appendMessages(ann, session, [draft('secret')], 1)
    t.equal(await store.markReceipts(eve, session, { readSeq: 1 }), 'missing')
    t.match(await store.findSession(ann, session), { readSeq: 0 })
    await newMachine(store, ann, machineId('m'))
    await store.mutateKv(ann, [{ key: kvKey('k'), value: sealed('v'), version: -1 }], 1)
    await store.writeCell(ann, { of: 'account', name: 'settings' }, 0, sealed('dark'), 1)
    await comeAndGo(store, ann, machineId('gone'))
    const nothing = {
      clock: 0,
      sessions: [],
      machines: [],
      artifacts: [],
      kv: [],
      removed: [],
      active: { sessions: [], machines: [] },
      more: false
    }
    t.match(await store.changesSince(eve, fromNothing), nothing)
    t.equal(complete(await store.changesSince(eve, fromNothing)).settings, undefined)
  })
}

const bothParts = { header: { expected: 1, value: sealed('x') }, body: { expected: 1, value: sealed('y') } }

function byAccount([one]: readonly [AccountId, number], [other]: readonly [AccountId, number]): number {
  return one < other ? -1 : 1
}

const fromNothing = { epoch: undefined, since: 0, began: undefined, limit: 500 }

function complete(changes: Awaited<ReturnType<Store['changesSince']>>): Changes {
  if (!changes.complete) throw new Error('The store said to start over')
  return changes
}

async function comeAndGo(store: Store, account: AccountId, id: ids.MachineId): Promise<void> {
  await Promise.all([newMachine(store, account, id), store.remove(account, { of: 'machine', id })])
}

function same(actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${is} instead of ${should}`)
}
