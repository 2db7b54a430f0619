import fc from 'fast-check'
import type { MessageDraft } from '../../../lib/store/rows.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, found, newAccount, newSession, openFor, readAll, type StorePlace } from './kit.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

export function messageContract(t: Check, place: StorePlace): void {
  t.test('a batch is numbered in order, and its counters move with it [O3] [D4]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const outcome = found(await store.appendMessages(ann, session, [draft('one', 'z'), draft('two', 'a'), draft('three', 'm')], 42))
    t.same(
      outcome.messages.map(({ seq, sealed, createdAt }) => [seq, sealed, createdAt]),
      [
        [1, 'one', 42],
        [2, 'two', 42],
        [3, 'three', 42]
      ]
    )
    t.same(outcome.added, outcome.messages)
    t.equal(outcome.clock, 4)
    t.match(await store.findSession(ann, session), { lastSeq: 3, updatedAt: 42 })
    t.same(await readAll(store, ann, session), outcome.messages)
  })

  t.test('a batch sent twice is stored once and answered the same [X1]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const batch = [draft('one', 'a'), draft('two', 'b')]
    const first = found(await store.appendMessages(ann, session, batch, 1))
    const second = found(await store.appendMessages(ann, session, [draft('changed', 'b'), draft('changed', 'a')], 9))
    t.same(second, { messages: first.messages, added: [], clock: first.clock })
    t.match(await store.findSession(ann, session), { lastSeq: 2, updatedAt: 1 })
  })

  t.test('any number of repeats leaves each message once, gapless, in the order first received [X1] [O3]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const name = fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { freq: 8 })
    const batches = fc.array(fc.array(name, { minLength: 1, maxLength: 5 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(batches, async names => {
        const session = await newSession(store, ann)
        const storm = names.map((batch, b) => batch.map((name, i) => draft(`${b}.${i}`, name)))
        const answers = await Promise.all(storm.map(batch => store.appendMessages(ann, session, batch, 1)))
        const expected = firstOfEach(storm.flat())
        const stored = await readAll(store, ann, session, 3)
        if (stored.map(({ sealed }) => sealed).join() !== expected.map(({ sealed }) => sealed).join()) throw new Error('another history')
        const added = answers.flatMap(answer => found(answer).added)
        if (added.length !== stored.length) throw new Error(`${added.length} said to be added, ${stored.length} stored`)
        if (found(await store.findSession(ann, session)).lastSeq !== stored.length) throw new Error('the counter is off')
        for (const answer of answers) {
          const seqs = found(answer).messages.map(({ seq }) => seq)
          if (seqs.some((seq, index) => seq <= (seqs[index - 1] ?? 0))) throw new Error(`answered out of order: ${seqs}`)
        }
      }),
      { numRuns: 60 }
    )
  })

  t.test('two simultaneous first sends of a message share one row and one number [X2]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    for (let pair = 1; pair <= 500; pair++) {
      const same = draft('twice')
      const [one, two] = await Promise.all([store.appendMessages(ann, session, [same], 1), store.appendMessages(ann, session, [same], 1)])
      if (found(one).messages[0]?.seq !== pair || found(two).messages[0]?.seq !== pair) t.fail(`pair ${pair}`)
    }
    t.equal((await readAll(store, ann, session)).length, 500)
  })

  t.test('a message without a localId is new each time', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const unnamed = draft('hi', null)
    await store.appendMessages(ann, session, [unnamed, unnamed], 1)
    t.equal(found(await store.appendMessages(ann, session, [unnamed], 1)).added[0]?.seq, 3)
  })

  t.test('the same localId in another session or account is another message [X3]', async t => {
    const store = await openFor(t, place)
    const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    const places = [
      [ann, await newSession(store, ann, 'one')],
      [ann, await newSession(store, ann, 'two')],
      [bob, await newSession(store, bob, 'one')]
    ] as const
    for (const [account, session] of places) {
      t.match(await store.appendMessages(account, session, [draft('hi', 'same')], 1), { added: [{ seq: 1 }] })
    }
  })

  t.test('a reader that has seen n never later finds anything below n [O1]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const writers = 6
    const each = 100
    const write = async (writer: number) => {
      for (let i = 0; i < each; i++) {
        const repeat = i % 10 === 0 ? [draft('again', `${writer}.0`)] : []
        await store.appendMessages(ann, session, [...repeat, draft('text', `${writer}.${i}`)], 1)
      }
    }
    const done = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
    let cursor = 0
    for (let limit = 1; cursor < writers * each; limit = (limit % 7) + 1) {
      const { messages } = found(await store.readMessages(ann, session, { after: cursor, limit }))
      for (const { seq } of messages) {
        if (seq !== cursor + 1) throw new Error(`${seq} came after ${cursor}`)
        cursor = seq
      }
      await turn()
    }
    await done
    t.equal(found(await store.findSession(ann, session)).lastSeq, writers * each)
  })

  t.test('nothing is readable before it is durable [D3]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    let isAcked = false
    const write = store.appendMessages(ann, session, [draft('hi')], 1).then(() => {
      isAcked = true
    })
    for (let seen = 0; seen === 0; await turn()) {
      seen = found(await store.readMessages(ann, session, { after: 0, limit: 1 })).messages.length
      t.equal(seen === 1, isAcked)
    }
    await write
  })

  t.test('pages in both directions are slices of one list, also while it grows [O2]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    let count = 0
    const page = fc.record({ from: fc.nat(60), limit: fc.integer({ min: 1, max: 20 }), grow: fc.nat(2), forward: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(page, async ({ from, limit, grow, forward }) => {
        const batch = Array.from({ length: grow }, () => draft('text'))
        if (grow > 0) await store.appendMessages(ann, session, batch, 1)
        count += grow
        const all = Array.from({ length: count }, (_, index) => index + 1)
        const wanted = forward ? all.filter(seq => seq > from) : all.filter(seq => seq < from).reverse()
        const answer = found(await store.readMessages(ann, session, forward ? { after: from, limit } : { before: from, limit }))
        const seqs = answer.messages.map(({ seq }) => seq)
        if (seqs.join() !== wanted.slice(0, limit).join()) throw new Error(`${seqs} instead of ${wanted.slice(0, limit)}`)
        if (answer.more !== wanted.length > limit) throw new Error(`more: ${answer.more} of ${wanted.length}`)
      }),
      { numRuns: 100 }
    )
  })

  t.test('a page of huge messages ends early and the next continues without a gap [O2]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const huge = 'x'.repeat(9 * 1024 * 1024)
    for (let i = 0; i < 4; i++) await store.appendMessages(ann, session, [draft(huge)], 1)
    const { messages, more } = found(await store.readMessages(ann, session, { after: 0, limit: 100 }))
    t.ok(messages.length >= 1 && messages.length < 4)
    t.equal(more, true)
    t.same(
      (await readAll(store, ann, session, 100)).map(({ sealed }) => sealed.length),
      [huge.length, huge.length, huge.length, huge.length]
    )
  })
}

function firstOfEach(drafts: readonly MessageDraft[]): MessageDraft[] {
  const seen = new Set<string>()
  return drafts.filter(({ localId }) => {
    if (localId === null) return true
    return !seen.has(localId) && seen.add(localId)
  })
}
