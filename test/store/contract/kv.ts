import fc from 'fast-check'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { KvChange } from '../../../lib/store/kv.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { newAccount, openFor, type StorePlace, sealed } from './kit.ts'

const kvKey = (text: string) => v.parse(ids.kvKey, text)
const change = (key: string, value: string | null, version = -1): KvChange => ({
  key: kvKey(key),
  value: value === null ? null : sealed(value),
  version
})

export function kvContract(t: Check, place: StorePlace): void {
  t.test('a key starts at version 0, counts up, and continues counting after removal', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const write = (value: string | null, version: number) => store.mutateKv(ann, [change('k', value, version)], 5)
    const wrote = (value: string | null, version: number, clock: number) => ({
      written: true,
      changes: [{ key: 'k', value, version }],
      clock
    })
    t.same(await write('one', -1), wrote('one', 0, 1))
    t.same(await write('two', 0), wrote('two', 1, 2))
    t.same(await write(null, 1), wrote(null, 2, 3))
    t.same(await store.readKv(ann, [kvKey('k')]), [])
    t.same(await store.listKv(ann, { prefix: '', limit: 10 }), [])
    t.same(await write('again', -1), { written: false, conflicts: [{ key: 'k', value: null, version: 2 }] })
    t.same(await write('again', 2), wrote('again', 3, 4))
    t.same(await store.readKv(ann, [kvKey('k')]), [{ key: 'k', value: 'again', version: 3 }])
  })

  t.test('changes are made together or not at all, and a rejection names every conflict [X5]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await store.mutateKv(ann, [change('a', 'a'), change('b', 'b')], 1)
    const all = () => store.listKv(ann, { prefix: '', limit: 10 })
    const before = await all()
    t.same(await store.mutateKv(ann, [change('new', 'x'), change('a', 'x', 0), change('b', null, 7), change('none', 'x', 3)], 2), {
      written: false,
      conflicts: [
        { key: 'b', value: 'b', version: 0 },
        { key: 'none', value: null, version: -1 }
      ]
    })
    t.same(await all(), before)
    t.match(await store.mutateKv(ann, [change('a', 'x', 0), change('b', null, 0), change('c', 'y')], 3), { clock: 2 })
    t.same(await all(), [
      { key: 'a', value: 'x', version: 1 },
      { key: 'c', value: 'y', version: 0 }
    ])
  })

  t.test('of many concurrent writers to the same keys, each version has one winner, who changed them all [X4] [X5]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const writers = fc.array(fc.constantFrom(-1, 0, 0, 0, 1), { minLength: 1, maxLength: 8 })
    await fc.assert(fc.asyncProperty(writers, race(store, ann)), { numRuns: 20 })
  })

  t.test('keys are listed by prefix, in order, up to a limit', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const keys = ['a', 'a.', 'a.b', 'a%', 'a_', 'B', 'ab', 'b', '\ud7ff', '\ue000', 'z\u{10ffff}', 'z\u{10ffff}q', '\u{1f600}']
    const inOrder = keys.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    await store.mutateKv(
      ann,
      keys.map(key => change(key, 'x')),
      1
    )
    const listed = async (prefix: string, limit = 100) => (await store.listKv(ann, { prefix, limit })).map(({ key }) => String(key))
    for (const prefix of ['', 'a', 'a.', 'a%', 'A', 'z', 'z\u{10ffff}', '\ud7ff', '\u{10ffff}', 'nothing']) {
      t.same(
        await listed(prefix),
        inOrder.filter(key => key.startsWith(prefix)),
        JSON.stringify(prefix)
      )
    }
    t.same(await listed('a', 2), inOrder.filter(key => key.startsWith('a')).slice(0, 2))
    t.same(
      (await store.readKv(ann, ['b', 'nothing', 'a'].map(kvKey))).map(({ key }) => key),
      ['b', 'a']
    )
  })

  t.test('two accounts have the same key independently [I1] [I3]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    await store.mutateKv(ann, [change('k', 'of ann')], 1)
    t.same(await store.readKv(eve, [kvKey('k')]), [])
    t.same(await store.listKv(eve, { prefix: '', limit: 10 }), [])
    t.same(await store.mutateKv(eve, [change('k', 'stolen', 0)], 1), {
      written: false,
      conflicts: [{ key: 'k', value: null, version: -1 }]
    })
    t.match(await store.mutateKv(eve, [change('k', 'of eve')], 1), { written: true, clock: 1 })
    await store.mutateKv(eve, [change('k', null, 0)], 1)
    t.same(await store.readKv(ann, [kvKey('k')]), [{ key: 'k', value: 'of ann', version: 0 }])
  })
}

const pair = ['left', 'right'].map(kvKey)

/** Each writer changes both keys over the version it takes for the current one, which may be off. */
function race(store: Store, account: AccountId) {
  return async (offs: number[]) => {
    let now = (await store.readKv(account, pair))[0]?.version ?? -1
    const outcomes = await Promise.all(
      offs.map(async (off, writer) => {
        const expected = Math.max(now + off, -1)
        const changes = pair.map(key => change(key, `${expected} ${writer}`, expected))
        return { expected, writer, outcome: await store.mutateKv(account, changes, 1) }
      })
    )
    let value = (await store.readKv(account, pair))[0]?.value ?? null
    for (const { expected, writer, outcome } of outcomes) {
      if (outcome.written !== (expected === now)) throw new Error(`over ${expected}, at ${now}: written ${outcome.written}`)
      if (outcome.written) {
        now += 1
        value = sealed(`${expected} ${writer}`)
      } else if (outcome.conflicts.some(({ version }) => version !== now)) throw new Error('a conflict told another version')
    }
    for (const row of await store.readKv(account, pair)) {
      if (row.version !== now || row.value !== value) throw new Error(`${row.key} is ${row.value} at ${row.version}`)
    }
  }
}
