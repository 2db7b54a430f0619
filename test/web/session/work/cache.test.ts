import 'fake-indexeddb/auto'
import t from 'tap'
import type { GitDiff } from '../../../../lib/protocol/sealed/calls/git.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { readCache, writeCache } from '../../../../web/session/work/cache.ts'

const text = (length: number): GitDiff => ({ type: 'text', oldText: 'x'.repeat(length), newText: 'y' })
const image = (old: number | null, now: number | null): GitDiff => {
  const bytes = (length: number | null) => (length === null ? null : 'z'.repeat(length))
  return { type: 'image', mime: 'image/png', oldBytes: bytes(old), newBytes: bytes(now) }
}
const none = { status: undefined, diffs: new Map(), viewed: new Map() }

/** Which of these, the oldest first, are still there after the app was opened again. */
async function keptOf(diffs: readonly GitDiff[]): Promise<number[]> {
  await writeCache('s1', { ...none, diffs: new Map(diffs.map((diff, at) => [String(at), diff])) })
  return [...(await readCache('s1')).diffs.keys()].map(Number)
}

t.test('what a folder looked like is read back, and each session has its own', async t => {
  const status = { value: { isRepository: false, why: 'no-git' } as const, at: 7 }
  const kept = { status, diffs: new Map([['a.ts', text(3)]]), viewed: new Map([['a.ts', 'M.1.2']]) }
  await writeCache('s2', kept)
  t.same(await readCache('s2'), kept)
  t.same(await readCache('s3'), none)
})

t.test('of the changes the newest that fit are kept, in their order', async t => {
  t.same(
    await keptOf(Array.from({ length: 41 }, () => text(1))),
    Array.from({ length: 40 }, (_, at) => at + 1)
  )
  t.same(await keptOf([text(1), text(199_999), text(199_999)]), [1, 2], 'exactly 400 000 characters')
  t.same(await keptOf([text(1), text(200_000), text(199_999)]), [2], 'what follows one that is too long is older')
  t.same(await keptOf([image(200_000, 1), image(100_000, 100_000)]), [1])
  t.same(await keptOf([image(null, 200_000), image(200_000, null)]), [0, 1])
  t.same(await keptOf([text(399_999), { type: 'binary', oldSize: 9, newSize: 500_000 }]), [0, 1], 'a file that is not shown needs no room')
  t.same(await keptOf([text(399_999), { type: 'text', oldText: null, newText: null } as GitDiff]), [0, 1])
})

t.test('what another version of the app has kept is not read', async t => {
  const db = await deviceDb()
  for (const kept of [null, 'text', {}, { version: 2, diffs: [], viewed: [] }]) {
    await db.write('work.s1', kept)
    t.same(await readCache('s1'), none)
  }
})
