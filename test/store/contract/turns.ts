import fc from 'fast-check'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, newAccount, openFor, readAll, type StorePlace, sealed, sessionId, signInAs } from './kit.ts'

type Step = (store: Store, account: AccountId) => Promise<unknown>

export function turnContract(t: Check, place: StorePlace): void {
  t.test('concurrent writes each end as if alone [D4]', async t => {
    const [together, alone] = [await openFor(t, place), await openFor(t, place)]
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async steps => {
        const account = `account ${round++}`
        const [here, there] = [await newAccount(together, account), await newAccount(alone, account)]
        const outcomes = (await Promise.allSettled(steps.map(run => run(together, here)))).map(settled)
        const expected: unknown[] = []
        for (const run of steps) expected.push(...(await Promise.allSettled([run(alone, there)])).map(settled))
        same(outcomes, expected)
        same(await everythingOf(together, here), await everythingOf(alone, there))
      }),
      { numRuns: 150 }
    )
  })
}

const name = fc.constantFrom('s1', 's2')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({ name, localIds: fc.array(fc.constantFrom('a', 'b', 'c', 'd', null), { minLength: 1, maxLength: 3 }) })
      .map(append)
  },
  { weight: 3, arbitrary: name.map(open) },
  { weight: 1, arbitrary: name.map(remove) },
  { weight: 2, arbitrary: fc.record({ name, expected: fc.nat(2) }).map(write) },
  { weight: 1, arbitrary: fc.constant<Step>(fail) }
)

function append({ name, localIds }: { name: string; localIds: (string | null)[] }): Step {
  const drafts = localIds.map(localId => draft(`text ${localId}`, localId))
  return (store, account) => store.appendMessages(account, sessionId(name), drafts, drafts.length)
}

function open(name: string): Step {
  const draft = { id: sessionId(name), tag: name, metadata: sealed('m'), agentState: null, dataKey: null, now: 1 }
  return (store, account) => store.openSession(account, draft)
}

function remove(name: string): Step {
  return (store, account) => store.remove(account, { of: 'session', id: sessionId(name) })
}

function write({ name, expected }: { name: string; expected: number }): Step {
  return (store, account) =>
    store.writeCell(account, { of: 'session', id: sessionId(name), name: 'metadata' }, expected, sealed(`over ${expected}`), 7)
}

function fail(store: Store): Promise<unknown> {
  const token = () => {
    throw new Error('no token')
  }
  return store.signIn(signInAs('somebody else', { token }))
}

async function everythingOf(store: Store, account: AccountId): Promise<unknown> {
  const sessions = (await store.listSessions(account, 10)).toSorted((one, other) => (one.id < other.id ? -1 : 1))
  return [sessions, await Promise.all(sessions.map(({ id }) => readAll(store, account, id)))]
}

function settled(outcome: PromiseSettledResult<unknown>): unknown {
  return outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason)
}

function same(actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${is} instead of ${should}`)
}
