import { execFileSync } from 'node:child_process'
import { appendFileSync, readdirSync, renameSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openEndedSessions } from '../../../../lib/wrapper/daemon/catch-up/ended-sessions.ts'
import { createSessionFolder, listSessions, reopen } from '../../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../../lib/wrapper/home/session-notes.ts'

const hourMs = 3_600_000

function notesOf(tag: string): SessionNotes {
  return {
    tag,
    id: `id ${tag}`,
    server: 's',
    program: { kind: 'demo' },
    key: null,
    metadata: { path: '/p', host: 'h' },
    cursor: 3,
    turn: null
  }
}

/** A computer with ended sessions, looked at when its clock says so. */
function computer(home: string, tags: readonly string[]) {
  for (const tag of tags) createSessionFolder(home, notesOf(tag)).retire()
  const clock = { ms: Date.now() + hourMs }
  const ended = openEndedSessions(home, () => clock.ms)
  return {
    clock,
    ids: () =>
      ended
        .all()
        .map(({ id }) => id)
        .toSorted(),
    all: () => ended.all()
  }
}

/** A note that cannot be read any more shows who reads it. */
function spoil(home: string): void {
  for (const tag of readdirSync(join(home, 'ended'))) truncateSync(join(home, 'ended', tag, 'session.json'))
}

t.test('ended sessions are not read again while none is added or removed', t => {
  const home = t.testdir()
  const { ids, all } = computer(home, ['a', 'b'])
  t.strictSame(ids(), ['id a', 'id b'])
  t.match(all(), [{ server: 's', settledUpTo: 3, reason: undefined }, { settledUpTo: 3 }])
  spoil(home)
  t.strictSame(ids(), ['id a', 'id b'])
  t.end()
})

t.test('one that ends or is resumed is noticed at once, in any process, and no other is read for it', t => {
  const home = t.testdir()
  const { ids } = computer(home, ['a', 'b'])
  ids()
  const [known] = listSessions(home).filter(({ notes }) => notes.tag === 'a')
  t.ok(known && reopen(known))
  t.strictSame(ids(), ['id b'])
  const folder = createSessionFolder(home, notesOf('c'))
  t.strictSame(ids(), ['id b'], 'it runs')
  execFileSync('mv', [folder.path, join(home, 'ended', 'c')])
  t.strictSame(ids(), ['id b', 'id c'])
  t.end()
})

t.test("changes during a read are not missed, however coarse the disk's timestamps are", t => {
  const home = t.testdir()
  const { clock, ids } = computer(home, ['a'])
  createSessionFolder(home, notesOf('b')).retire()
  clock.ms = Date.now()
  t.strictSame(ids(), ['id a', 'id b'])
  // As if in the same moment: the time of the folder is as before.
  renameSync(join(home, 'ended', 'b', 'session.json'), join(home, 'ended', 'b', 'gone.json'))
  t.strictSame(ids(), ['id a'])
  t.end()
})

t.test('they are checked periodically anyway', t => {
  const home = t.testdir()
  const { clock, ids } = computer(home, ['a'])
  ids()
  appendFileSync(join(home, 'ended', 'a', 'session.json'), 'damaged')
  t.strictSame(ids(), ['id a'])
  clock.ms += hourMs
  t.strictSame(ids(), [])
  t.end()
})
