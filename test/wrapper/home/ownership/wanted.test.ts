import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { untilFree, whenWanted } from '../../../../lib/wrapper/home/ownership/wanted.ts'
import { createSessionFolder, listSessions, reopen, takeOver } from '../../../../lib/wrapper/home/session-folder.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const notes = { tag: 'one', server: 's', key: null, metadata: { path: '/p', host: 'h' }, cursor: 0, turn: null }

/** The wish of a process that runs and is not this one. */
const wish = 'wanted@1-0'

/** What a killed process left behind, which this one delivers. */
function delivering(home: string) {
  const { path } = createSessionFolder(home, notes)
  const left = join(dirname(path), 'one@1-1')
  renameSync(path, left)
  const folder = takeOver(left)
  if (!folder) throw new Error('it is free')
  return folder
}

t.test('that a folder is wanted is heard at once, and no timer runs for it', async t => {
  const folder = delivering(t.testdir())
  const clock = manualClock()
  const wanted = whenWanted(folder.path, { clock })
  t.teardown(wanted.close)
  const heard = new Promise(resolve => wanted.signal.addEventListener('abort', resolve))
  writeFileSync(join(folder.path, wish), '')
  await heard
  t.equal(clock.now(), 0)
  wanted.close()
  t.equal(clock.pending, 0)
})

t.test('where nothing tells of changes it is found out now and then', async t => {
  const folder = delivering(t.testdir())
  const clock = manualClock()
  const moved = `${folder.path}-away`
  renameSync(folder.path, moved)
  const wanted = whenWanted(folder.path, { clock })
  t.teardown(wanted.close)
  renameSync(moved, folder.path)
  writeFileSync(join(folder.path, wish), '')
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(wanted.signal.aborted)
  clock.advance(1000)
  t.ok(wanted.signal.aborted)
})

t.test('who wants a session goes on with it as soon as it is left', async t => {
  const home = t.testdir()
  const folder = delivering(home)
  const clock = manualClock()
  const find = () => listSessions(home).find(({ notes }) => notes.tag === 'one')
  const free = untilFree(find, 60_000, { clock })
  rmSync(join(folder.path, wish), { force: true })
  folder.giveBack()
  t.ok(reopen(await free))
  t.equal(clock.now(), 0)
})
