import t from 'tap'
import { createMemoryJournal } from '../../../lib/client/outbox/journal.ts'
import { draft, testJournal } from './journal-contract.ts'

testJournal(t, () => ({ journal: createMemoryJournal() }))

t.test('an in-memory journal can start with what another process left', async t => {
  const journal = createMemoryJournal([draft('a'), draft('b')])
  await journal.remove([draft('a')])
  t.strictSame(await journal.load(), [draft('b')])
})

t.test('an in-memory journal returns what was appended, in order, until it is closed', async t => {
  const journal = createMemoryJournal()
  await journal.append([draft('a')])
  await journal.append([draft('b'), draft('c')])
  await journal.remove([draft('b')])
  const loaded = await journal.load()
  t.strictSame(loaded, [draft('a'), draft('c')])
  await journal.append([draft('d')])
  t.equal(loaded.length, 2, 'what was read stays as it was')
  await journal.close()
  await t.rejects(journal.load(), { message: 'the journal is closed' })
})
