import type { Test } from 'tap'
import { draftKey, type Journal } from '../../../lib/client/outbox/journal.ts'
import type { Draft } from '../../../lib/client/sealed/messages.ts'

export interface JournalUnderTest {
  journal: Journal
  /** The same place opened again, as by the next process after a crash: nothing was closed. Absent for journals that keep nothing. */
  reopen?: (() => Promise<Journal>) | undefined
}

/** What every journal keeps to. `open` gives an empty one each time. */
export function testJournal(t: Test, open: (t: Test) => Promise<JournalUnderTest> | JournalUnderTest): void {
  t.test('a new journal is empty', async t => {
    const { journal } = await open(t)
    t.strictSame(await journal.load(), [])
  })

  t.test('drafts are returned unchanged in the order they were appended [W1]', async t => {
    const { journal, reopen } = await open(t)
    await journal.load()
    await journal.append([draft('a'), draft('b')])
    await journal.append([draft('c', { session: 's2' }), draft('d', { content: '' })])
    if (!reopen) return
    t.strictSame(await (await reopen()).load(), [draft('a'), draft('b'), draft('c', { session: 's2' }), draft('d', { content: '' })])
  })

  t.test('removed drafts do not reappear, and the rest keep their order', async t => {
    const { journal, reopen } = await open(t)
    await journal.load()
    await journal.append(['a', 'b', 'c', 'd'].map(id => draft(id)))
    await journal.remove([draft('b')])
    await journal.remove([draft('a')])
    await journal.append([draft('e')])
    if (!reopen) return
    // A removal may take effect late, so those may be there once more; nothing else may.
    const left = await (await reopen()).load()
    t.strictSame(without(left, ['a', 'b']), ['c', 'd', 'e'])
  })

  t.test('a removal before close takes effect', async t => {
    const { journal, reopen } = await open(t)
    await journal.load()
    await journal.append([draft('a'), draft('b')])
    await journal.remove([draft('a')])
    await journal.close()
    if (!reopen) return
    t.strictSame(await (await reopen()).load(), [draft('b')])
  })

  t.test('the same localId in two sessions is two drafts [X3]', async t => {
    const { journal, reopen } = await open(t)
    await journal.load()
    await journal.append([draft('a'), draft('a', { session: 's2' })])
    await journal.remove([draft('a')])
    await journal.close()
    if (!reopen) return
    t.strictSame((await (await reopen()).load()).map(draftKey), [draftKey(draft('a', { session: 's2' }))])
  })

  t.test('removing nothing, or what is not there, does no harm', async t => {
    const { journal, reopen } = await open(t)
    await journal.load()
    await journal.append([draft('a')])
    await journal.remove([draft('z')])
    await journal.remove([])
    await journal.append([])
    await journal.close()
    if (!reopen) return
    t.strictSame(await (await reopen()).load(), [draft('a')])
  })

  t.test('ids and content with any characters, and large ones, are returned unchanged', async t => {
    const { journal, reopen } = await open(t)
    await journal.load()
    const odd = [
      draft('ü\u0000"\\\n🙂', { session: 'a:b/c d' }),
      draft('l'.repeat(200), { content: 'QUJD'.repeat(300_000) }),
      draft('x', { createdAt: 1_763_700_000_123 })
    ]
    await journal.append(odd)
    if (!reopen) return
    t.strictSame(await (await reopen()).load(), odd)
  })

  t.test('a journal written, read and trimmed over several processes stays correct', async t => {
    const { journal, reopen } = await open(t)
    if (!reopen) return
    let current = journal
    let expected: string[] = []
    for (let life = 0; life < 5; life++) {
      const loaded = await current.load()
      t.strictSame(
        loaded.map(({ localId }) => localId),
        expected
      )
      const added = Array.from({ length: 20 }, (_, index) => `${life}-${index}`)
      for (const id of added) await current.append([draft(id)])
      const all = [...expected, ...added]
      const gone = all.filter((_, index) => index % 3 === life % 3)
      await current.remove(gone.map(id => draft(id)))
      expected = all.filter(id => !gone.includes(id))
      await current.close()
      current = await reopen()
    }
    await current.close()
  })

  t.test('after close every call rejects, and closing again does not', async t => {
    const { journal } = await open(t)
    await journal.load()
    await journal.close()
    await journal.close()
    await t.rejects(journal.append([draft('a')]))
    await t.rejects(journal.remove([draft('a')]))
  })
}

export function draft(localId: string, { session = 's1', content = 'aGk=', createdAt = 1 }: Partial<Draft> = {}): Draft {
  return { session, localId, content, createdAt }
}

function without(drafts: readonly Draft[], late: readonly string[]): string[] {
  return drafts.map(({ localId }) => localId).filter(localId => !late.includes(localId))
}
