import fc from 'fast-check'
import type { AccountId, Sealed } from '../../../lib/protocol/wire/ids.ts'
import type { Cell, CellRef } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { found, machineId, newAccount, newMachine, newSession, openFor, type StorePlace, sealed } from './kit.ts'

export function cellContract(t: Check, place: StorePlace): void {
  t.test('settings start empty at version 0', async t => {
    const store = await openFor(t, place)
    t.same(await store.readSettings(await newAccount(store, 'ann')), { version: 0, value: null })
  })

  t.test('each version of each cell has one winner, and a loser gets the current value [X4]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    for (const [name, ref] of Object.entries(await allCells(store, ann))) {
      await t.test(name, () => fc.assert(fc.asyncProperty(attempts, race(store, ann, ref)), { numRuns: 20 }))
    }
  })

  t.test('a write advances the clock once, a conflict does not', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const settings = { of: 'account', name: 'settings' } as const
    t.same(await store.writeCell(ann, settings, 0, sealed('a'), 1), { written: true, version: 1, clock: 1 })
    t.same(await store.writeCell(ann, settings, 0, sealed('b'), 1), { written: false, current: { version: 1, value: 'a' } })
    t.same(await store.writeCell(ann, settings, 1, null, 1), { written: true, version: 2, clock: 2 })
    t.same(await store.readSettings(ann), { version: 2, value: null })
  })

  t.test('a write to a row marks it as changed', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const id = await newSession(store, ann)
    const ref = { of: 'session', id, name: 'agentState' } as const
    await store.writeCell(ann, ref, 0, sealed('busy'), 77)
    t.match(await store.findSession(ann, id), { agentState: { version: 1, value: 'busy' }, metadata: { version: 0 }, updatedAt: 77 })
    await store.writeCell(ann, ref, 0, sealed('late'), 99)
    t.match(await store.findSession(ann, id), { agentState: { version: 1, value: 'busy' }, updatedAt: 77 })
  })
}

async function allCells(store: Store, account: AccountId): Promise<Record<string, CellRef>> {
  const session = await newSession(store, account)
  const machine = machineId('laptop')
  await newMachine(store, account, machine)
  return {
    'session metadata': { of: 'session', id: session, name: 'metadata' },
    'agent state': { of: 'session', id: session, name: 'agentState' },
    'machine metadata': { of: 'machine', id: machine, name: 'metadata' },
    'daemon state': { of: 'machine', id: machine, name: 'daemonState' },
    settings: { of: 'account', name: 'settings' }
  }
}

// Several writers at once, each off by so many versions from what it could know.
const attempts = fc.array(
  fc.record({ off: fc.constantFrom(-1, 0, 0, 0, 1), value: fc.option(fc.string({ unit: 'binary' }).filter(isText)) }),
  {
    minLength: 1,
    maxLength: 8
  }
)

function race(store: Store, account: AccountId, ref: CellRef) {
  return async (writers: { off: number; value: string | null }[]) => {
    const before = await currentCell(store, account, ref)
    const outcomes = await Promise.all(
      writers.map(async ({ off, value }) => {
        const expected = before.version + off
        return { expected, value, outcome: found(await store.writeCell(account, ref, expected, seal(value), 5)) }
      })
    )
    let now = before
    for (const { expected, value, outcome } of outcomes) {
      const wins = expected === now.version
      if (outcome.written !== wins) throw new Error(`over ${expected}, at ${now.version}: written ${outcome.written}`)
      if (outcome.written) now = { version: outcome.version, value: seal(value) }
      same(
        outcome.written ? { version: outcome.version, value: now.value } : outcome.current,
        outcome.written ? { ...now, version: expected + 1 } : now
      )
    }
    same(await currentCell(store, account, ref), now)
  }
}

async function currentCell(store: Store, account: AccountId, ref: CellRef): Promise<Cell> {
  if (ref.of === 'account') return store.readSettings(account)
  if (ref.of === 'session') return found(await store.findSession(account, ref.id))[ref.name]
  return found(await store.findMachine(account, ref.id))[ref.name]
}

const seal = (value: string | null): Sealed | null => (value === null ? null : sealed(value))

function isText(value: string): boolean {
  return value.isWellFormed()
}

function same(actual: Cell, expected: Cell): void {
  if (actual.version !== expected.version || actual.value !== expected.value) {
    throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
  }
}
