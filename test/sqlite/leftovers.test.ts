import t from 'tap'
import { openStore } from '../../lib/store/open.ts'
import { draft, found, newAccount, newSession } from '../store/contract/kit.ts'

t.test('what a huge account leaves goes piece by piece, and is nobody’s meanwhile [I3, P4]', async t => {
  const store = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: reason => t.fail(reason.message) })
  t.teardown(() => store.close())
  const ann = await newAccount(store, 'ann')
  const bob = await newAccount(store, 'bob')
  const sessions = [await newSession(store, ann, 'one'), await newSession(store, bob, 'one')] as const
  for (let number = 0; number < 5; number += 1) {
    for (const [index, account] of [ann, bob].entries()) {
      const drafts = Array.from({ length: 500 }, (_, row) => draft(`${number} ${row}`))
      await store.appendMessages(account, sessions[index === 0 ? 0 : 1], drafts, 1)
    }
  }
  await store.removeAccount(bob)
  t.equal((await store.inspect()).messages, 2500 + 1500, 'one turn removes only so many')
  const cyd = await newAccount(store, 'cyd')
  const cyds = await newSession(store, cyd, 'one')
  t.same(await store.readMessages(cyd, cyds, { after: 0, limit: 9 }), { messages: [], more: false })
  while ((await store.sweepAttachments(1)) === 'more');
  t.match(await store.inspect(), { messages: 2500, flaws: [] })
  t.equal(found(await store.readMessages(ann, sessions[0], { after: 2499, limit: 9 })).messages.length, 1)
})
