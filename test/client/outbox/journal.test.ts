import t from 'tap'
import { createMemoryJournal } from '../../../lib/client/outbox/journal.ts'
import { draft, testJournal } from './journal-contract.ts'

testJournal(t, () => ({ journal: createMemoryJournal() }))

t.test('an in-memory journal can start with what another process left', async t => {
  const journal = createMemoryJournal([draft('a'), draft('b')])
  await journal.remove([draft('a')])
  t.strictSame(await journal.load(), [draft('b')])
})
