import { longestClaimMs } from '../../../lib/store/work.ts'
import type { Check } from '../../contracts/check.ts'
import { openFor, type StorePlace } from './kit.ts'

export function workContract(t: Check, place: StorePlace): void {
  t.test('work is done by whoever claimed it, until the claim ends [M7]', async t => {
    const store = await openFor(t, place)
    const minute = 60_000
    t.ok(await store.claimWork('sweep', 'one', minute))
    t.ok(await store.claimWork('sweep', 'one', minute), 'again, to keep it')
    t.not(await store.claimWork('sweep', 'other', minute), true)
    t.ok(await store.claimWork('count', 'other', minute), 'each work is of its own')
    t.ok(await store.claimWork('sweep', 'one', 0))
    t.ok(await store.claimWork('sweep', 'other', minute), 'at once after one that left it')
    t.not(await store.claimWork('sweep', 'one', minute), true)
  })

  t.test('a claim that ends later than any can is of a wrong clock', async t => {
    const store = await openFor(t, place)
    t.ok(await store.claimWork('sweep', 'one', longestClaimMs))
    t.not(await store.claimWork('sweep', 'other', 1), true)
    t.ok(await store.claimWork('sweep', 'one', longestClaimMs + 60_000))
    t.ok(await store.claimWork('sweep', 'other', 1))
  })

  t.test('a secret stays as it was first kept, until it is forgotten', async t => {
    const store = await openFor(t, place)
    const [one, other] = [Buffer.from('one'), Buffer.from('other')]
    t.same(Buffer.from(await store.keepSecret('key', one)), one)
    t.same(Buffer.from(await store.keepSecret('key', other)), one)
    await store.keepSecret('lock', one)
    await store.forgetSecret('key')
    await store.forgetSecret('key')
    t.same(Buffer.from(await store.keepSecret('key', other)), other)
    t.same(Buffer.from(await store.keepSecret('lock', other)), one)
  })
}
